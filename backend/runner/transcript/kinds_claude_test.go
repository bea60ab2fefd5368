//go:build claude

package transcript

import (
	"bufio"
	"io"
	"os"
	"regexp"
	"slices"
	"testing"
)

var inBinary = regexp.MustCompile(`type:"system",subtype:"([a-z_]+)"`)

// The pinned CLI names no subtype that the list does not have: it was made by the same
// words, of that binary and of the SDK's types.
func TestTheListIsOfThePinnedCLI(t *testing.T) {
	f, err := os.Open(os.Getenv("LOOP_CLAUDE_BIN"))
	if err != nil {
		t.Fatal("set LOOP_CLAUDE_BIN, or leave out the build tag claude: ", err)
	}
	defer f.Close()
	known, found := kindsOfTheCLI(t), map[string]bool{}
	const overlap = 200
	r, buf, n := bufio.NewReaderSize(f, 1<<20), make([]byte, 4<<20), 0
	for {
		more, err := io.ReadFull(r, buf[n:])
		n += more
		for _, m := range inBinary.FindAllSubmatch(buf[:n], -1) {
			found[string(m[1])] = true
		}
		if err != nil {
			break
		}
		n = copy(buf, buf[n-overlap:n])
	}
	if len(found) < 50 {
		t.Fatalf("only %d subtypes in the binary", len(found))
	}
	for sub := range found {
		if !slices.Contains(known, "system/"+sub) {
			t.Errorf("system/%s is missing from the list", sub)
		}
	}
}

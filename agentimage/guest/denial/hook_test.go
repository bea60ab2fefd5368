//go:build linux

package denial

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"loop/backend/wire"
)

var now = time.UnixMilli(1_800_000_000_000)

// place is a container's folder of the gate, and that of spawn a.
func place(t testing.TB) (policy, denied, own string) {
	dir := t.TempDir()
	own = filepath.Join(dir, "runs", "a")
	for _, d := range []string{filepath.Join(dir, "gate"), own} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "gate", "a.json"), filepath.Join(dir, "gate", "a"+wire.DeniedSuffix), own
}

// told is what the hook adds to a tool's result.
func told(t testing.TB, input, policy string, at time.Time) string {
	t.Helper()
	var out strings.Builder
	Hook(strings.NewReader(input), &out, policy, at)
	if out.Len() == 0 {
		return ""
	}
	var answer struct {
		Specific struct {
			Event string `json:"hookEventName"`
			Text  string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(out.String()), &answer); err != nil {
		t.Fatalf("%q: %v", out.String(), err)
	}
	if answer.Specific.Event != "PostToolUseFailure" || answer.Specific.Text == "" {
		t.Fatalf("%q", out.String())
	}
	return answer.Specific.Text
}

const failedWrite = `{"hook_event_name":"PostToolUseFailure","tool_name":"Write","error":"EACCES: permission denied"}`

func TestHookTellsOnce(t *testing.T) {
	policy, denied, _ := place(t)
	if got := told(t, failedWrite, policy, now); got != "" {
		t.Errorf("without a denial: %q", got)
	}
	j := Open(denied, slog.New(slog.DiscardHandler))
	defer j.Close()
	add := func(age time.Duration, target string) Denial {
		d := Denial{At: now.Add(-age).UnixMilli(), Operation: "write", Target: target, By: wire.ByPerson}
		j.Add(d)
		return d
	}
	add(recent, "/old")
	one, two := add(time.Second, "/one"), add(0, "/two")
	add(0, "/two") // the same again
	if got, want := told(t, failedWrite, policy, now), one.Text()+"\n"+two.Text(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := told(t, failedWrite, policy, now); got != "" {
		t.Errorf("told again: %q", got)
	}
	three := add(0, "/three")
	heard, _ := json.Marshal("Exit code 1\nloop: " + three.Text())
	if got := told(t, `{"error":`+string(heard)+`}`, policy, now); got != "" {
		t.Errorf("said what the output has: %q", got)
	}
	for i := range maxTold + 2 {
		add(0, fmt.Sprint("/many", i))
	}
	got := told(t, failedWrite, policy, now)
	if lines := strings.Split(got, "\n"); len(lines) != maxTold+1 || lines[0] != "Loop's gate denied 2 more calls before these." || !strings.Contains(got, "/many6") {
		t.Errorf("%q", got)
	}
}

// TestHooksTakeTurns: of tool calls that fail together one is told.
func TestHooksTakeTurns(t *testing.T) {
	policy, denied, _ := place(t)
	j := Open(denied, slog.New(slog.DiscardHandler))
	defer j.Close()
	j.Add(Denial{At: now.UnixMilli()})
	var mu sync.Mutex
	var texts []string
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			var out strings.Builder
			Hook(strings.NewReader(failedWrite), &out, policy, now)
			mu.Lock()
			defer mu.Unlock()
			if out.Len() > 0 {
				texts = append(texts, out.String())
			}
		})
	}
	all.Wait()
	if len(texts) != 1 {
		t.Errorf("%q", texts)
	}
}

// TestHookWithoutMemory tells twice rather than not at all.
func TestHookWithoutMemory(t *testing.T) {
	policy, denied, own := place(t)
	j := Open(denied, slog.New(slog.DiscardHandler))
	defer j.Close()
	j.Add(Denial{At: now.UnixMilli()})
	if err := os.RemoveAll(own); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if told(t, failedWrite, policy, now) == "" {
			t.Error("nothing was told")
		}
	}
}

func TestHookWithoutAGate(t *testing.T) {
	_, denied, _ := place(t)
	dir := filepath.Dir(denied)
	if err := os.WriteFile(filepath.Join(dir, "big"+wire.DeniedSuffix), make([]byte, 3*MaxJournal), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"+wire.DeniedSuffix), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, policy := range []string{"", "a.json", dir, filepath.Join(dir, "b.json"), filepath.Join(dir, "a"), filepath.Join(dir, "..json"),
		filepath.Join(dir, "big.json"), filepath.Join(dir, "folder.json"), "/dev/zero", "/dev/zero.json"} {
		if got := told(t, failedWrite, policy, now); got != "" {
			t.Errorf("%q: %q", policy, got)
		}
	}
}

// endless is an input without an end.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '{'
	}
	e.read += len(b)
	return len(b), nil
}

func TestHookEndsWhateverItReads(t *testing.T) {
	policy, denied, _ := place(t)
	j := Open(denied, slog.New(slog.DiscardHandler))
	defer j.Close()
	j.Add(Denial{At: now.UnixMilli()})
	var out strings.Builder
	in := &endless{}
	Hook(in, &out, policy, now)
	if out.Len() == 0 || in.read > maxInput+maxDiscard+1<<20 {
		t.Errorf("%q after %d bytes", out.String(), in.read)
	}
}

func FuzzHook(f *testing.F) {
	f.Add([]byte(failedWrite), []byte(`{"n":1,"at":1800000000000,"operation":"write","target":"/a","by":"person"}`+"\n"), []byte("0\n"))
	f.Add([]byte(`{"error":[1]}`), []byte(`{"n":9223372036854775807,"at":-9223372036854775808}`+"\nnull\n[]\n{"), []byte("-\xff99999999999999999999999999999999999"))
	f.Add([]byte(nil), []byte("\n\n"), []byte(nil))
	f.Fuzz(func(t *testing.T, input, journal, shown []byte) {
		policy, denied, own := place(t)
		for path, data := range map[string][]byte{denied: journal, filepath.Join(own, shownFile): shown} {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var out strings.Builder
		Hook(strings.NewReader(string(input)), &out, policy, now)
		if out.Len() > 64<<10 || out.Len() > 0 && !json.Valid([]byte(out.String())) {
			t.Errorf("%q", out.String())
		}
	})
}

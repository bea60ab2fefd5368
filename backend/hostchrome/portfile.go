package hostchrome

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"loop/backend/atomicfile"
)

const (
	portFile = "DevToolsActivePort"
	// maxPortFile bounds the file, in bytes; Chrome's has some sixty.
	maxPortFile = 1 << 10
	// firstPort is the first that needs no privilege. One below would have addresses
	// without a number, which the guard in package chrome goes by.
	firstPort = 1024
)

// Endpoint is where the DevTools of a running Chrome listen on this computer.
type Endpoint struct {
	Port uint16
	Path string // of the browser as a whole
}

// browserPath is what Chrome writes: a random id, which nobody but a reader of the file
// knows.
var browserPath = regexp.MustCompile(`^/devtools/browser/[0-9A-Za-z-]{1,64}$`)

var errNotPortFile = errors.New("it is not what Chrome writes: a port and a path of its DevTools, on a line each")

// parsePortFile reads the two lines of the file. No host is in it, and nothing that could
// be taken for one passes.
func parsePortFile(data []byte) (Endpoint, error) {
	text := strings.ReplaceAll(strings.TrimRight(string(data), "\r\n"), "\r\n", "\n")
	port, path, ok := strings.Cut(text, "\n")
	n, err := strconv.ParseUint(port, 10, 16)
	if !ok || err != nil || strconv.FormatUint(n, 10) != port || n < firstPort || !browserPath.MatchString(path) {
		return Endpoint{}, errNotPortFile
	}
	return Endpoint{Port: uint16(n), Path: path}, nil
}

// readPortFile reads the file in a folder of user data.
func readPortFile(folder string) (Endpoint, error) {
	data, _, err := atomicfile.Read(filepath.Join(folder, portFile), maxPortFile)
	if err != nil {
		return Endpoint{}, fmt.Errorf("read where its DevTools listen: %w", err)
	}
	return parsePortFile(data)
}

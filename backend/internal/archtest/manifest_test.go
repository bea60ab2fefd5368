package archtest

import (
	"debug/pe"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The manifest of a Windows program asks for version 6 of the common controls, without
// which there are no task dialogs. Go's linker takes it from the .syso files beside main.go,
// which “make gen” writes. Here it is read from a linked program, as Windows does.
func TestTheManifestOfWindows(t *testing.T) {
	want, err := os.ReadFile(root + "/build/windows/loop.exe.manifest")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(want), `name="Microsoft.Windows.Common-Controls" version="6.0.0.0"`) {
		t.Error("the manifest does not ask for version 6 of the common controls")
	}
	for _, arch := range []string{"amd64", "arm64"} {
		syso := "loop_windows_" + arch + ".syso"
		if got := goTool(t, arch, root, "list", "-f", "{{.SysoFiles}}", "."); strings.TrimSpace(got) != "["+syso+"]" {
			t.Errorf("%s: Go links %s, want %s", arch, got, syso)
		}
		object, err := os.ReadFile(filepath.Join(root, syso))
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for name, text := range map[string][]byte{
			"go.mod": []byte("module small\n"), "main.go": []byte("package main\n\nfunc main() {}\n"), syso: object,
		} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		goTool(t, arch, dir, "build", "-o", "small.exe", ".")
		if got := manifestOf(t, filepath.Join(dir, "small.exe")); got != string(want) {
			t.Errorf("%s has another manifest; “make gen” writes it anew:\n%s", arch, got)
		}
	}
}

func goTool(t *testing.T, arch, dir string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOOS=windows", "GOARCH="+arch, "CGO_ENABLED=0", "GOWORK=off")
	var said strings.Builder // what is downloaded is said there, too
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", args[0], err, said.String())
	}
	return string(out)
}

// manifestOf is the resource of type 24 (RT_MANIFEST) with the number 1 of a PE file.
func manifestOf(t *testing.T, name string) string {
	t.Helper()
	f, err := pe.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".rsrc")
	if s == nil {
		return "no resources"
	}
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	at := uint32(0) // of the directory
	for _, want := range []int{24, 1, -1} {
		next, err := inDirectory(data, at, want)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		at = next &^ (1 << 31)
	}
	rva, size := binary.LittleEndian.Uint32(data[at:]), binary.LittleEndian.Uint32(data[at+4:])
	return string(data[rva-s.VirtualAddress:][:size])
}

// inDirectory is the offset of an entry of IMAGE_RESOURCE_DIRECTORY, whose entries begin
// after 16 bytes; -1 is the first one.
func inDirectory(data []byte, at uint32, id int) (uint32, error) {
	named, numbered := binary.LittleEndian.Uint16(data[at+12:]), binary.LittleEndian.Uint16(data[at+14:])
	for i := range uint32(named) + uint32(numbered) {
		entry := data[at+16+8*i:]
		if id < 0 || binary.LittleEndian.Uint32(entry) == uint32(id) {
			return binary.LittleEndian.Uint32(entry[4:]), nil
		}
	}
	return 0, fmt.Errorf("no resource %d", id)
}

//go:build linux

// Command seccomp makes the table of system call numbers that the guest's filters are
// assembled from, agentimage/guest/filter/numbers.txt:
//
//	go run -C build/seccomp . [-write]
//
// The numbers are those of golang.org/x/sys/unix in the version of Loop's go.mod, which
// is generated from the kernel's headers of both architectures and goes with go.sum.
// libseccomp, whose tables are kept by other people, must agree on every name that it
// knows. Without -write a difference is an error.
//
// It needs cgo, pkg-config and libseccomp-dev, which is why it is a module of its own:
// nothing else of Loop does. It is a tool of the build; nothing imports it.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	seccomp "github.com/seccomp/libseccomp-golang"
)

const (
	root   = "../.." // of the repository, from this directory
	target = root + "/agentimage/guest/filter/numbers.txt"
)

var architectures = []struct {
	name string
	arch seccomp.ScmpArch
}{
	{"amd64", seccomp.ArchAMD64},
	{"arm64", seccomp.ArchARM64},
}

func main() {
	write := flag.Bool("write", false, "write the table")
	flag.Parse()
	if err := run(*write); err != nil {
		fmt.Fprintln(os.Stderr, "seccomp:", err)
		os.Exit(1)
	}
}

func run(write bool) error {
	sys, err := sysFolder()
	if err != nil {
		return err
	}
	var tables []map[string]int
	for _, a := range architectures {
		table, err := headerNumbers(filepath.Join(sys, "unix", "zsysnum_linux_"+a.name+".go"))
		if err != nil {
			return err
		}
		known, err := compare(table, a.arch)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		fmt.Printf("%s: %d calls, on %d of which libseccomp agrees; it does not know the others\n", a.name, len(table), known)
		tables = append(tables, table)
	}
	text := format(tables)
	if write {
		return os.WriteFile(target, text, 0o644)
	}
	have, err := os.ReadFile(target)
	if err != nil {
		return fmt.Errorf("read the table: %w", err)
	}
	if !bytes.Equal(have, text) {
		return errors.New("numbers.txt is not what the kernel's headers say; write it with: go run -C build/seccomp . -write")
	}
	return nil
}

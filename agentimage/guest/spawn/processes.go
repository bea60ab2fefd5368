//go:build linux

package spawn

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// process is one line of the process table.
type process struct {
	pid, ppid int
	group     int // process group
	session   int
	state     byte   // e.g. 'T': stopped by a signal
	start     uint64 // clock ticks since boot: with pid, names a process for good
}

// descendants returns every process below root, root itself excluded, zombies
// included (they still belong to somebody who must reap them).
func descendants(root int) ([]process, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	kids := make(map[int][]process, len(all))
	for _, p := range all {
		kids[p.ppid] = append(kids[p.ppid], p)
	}
	var out []process
	seen := map[int]bool{root: true} // the table is not one moment's picture: guard against a loop
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		for _, p := range kids[queue[0]] {
			if !seen[p.pid] {
				seen[p.pid] = true
				out = append(out, p)
				queue = append(queue, p.pid)
			}
		}
	}
	return out, nil
}

// tableMu lets one goroutine at a time read the process table: it is a blocking
// walk, and loop init has a fixed number of threads.
var tableMu sync.Mutex

func processes() ([]process, error) {
	tableMu.Lock()
	defer tableMu.Unlock()
	all, err := pids()
	if err != nil {
		return nil, err
	}
	out := make([]process, 0, len(all))
	for _, pid := range all {
		if p, ok := readProcess(pid); ok {
			out = append(out, p)
		}
	}
	return out, nil
}

// Busy reports whether anything runs in the container besides this process: a program that
// was spawned, what it has left behind, or what somebody started through the engine. A
// process table that cannot be read is no reason to end what may be there.
func (tab *Table) Busy() bool {
	all, err := processes()
	if err != nil {
		tab.cfg.Log.Error("look for processes", "err", err)
		return true
	}
	return slices.ContainsFunc(all, func(p process) bool { return p.pid != os.Getpid() && p.state != 'Z' && p.state != 'X' })
}

func pids() ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	out := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			out = append(out, pid)
		}
	}
	return out, nil
}

func readProcess(pid int) (process, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false // gone meanwhile
	}
	return parseStat(pid, data)
}

// parseStat reads /proc/<pid>/stat. The command in the second field is the
// agent's to choose and may hold spaces, parentheses and newlines; fields are
// counted from the last parenthesis.
func parseStat(pid int, data []byte) (process, bool) {
	i := bytes.LastIndexByte(data, ')')
	if i < 0 {
		return process{}, false
	}
	f := bytes.Fields(data[i+1:])
	const ppidField, groupField, sessionField, startField = 1, 2, 3, 19 // fields 4 to 6 and 22 of proc(5)
	if len(f) <= startField {
		return process{}, false
	}
	ppid, err1 := strconv.Atoi(string(f[ppidField]))
	start, err2 := strconv.ParseUint(string(f[startField]), 10, 64)
	group, err3 := strconv.Atoi(string(f[groupField]))
	session, err4 := strconv.Atoi(string(f[sessionField]))
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil || ppid < 0 {
		return process{}, false
	}
	return process{pid: pid, ppid: ppid, group: group, session: session, state: f[0][0], start: start}, true
}

// signalProcess sends sig to exactly the process p was read from: the
// descriptor pins the pid before the second look, so a reused pid is never hit.
func signalProcess(p process, sig unix.Signal) error {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return ignoreGone(err)
	}
	defer func() { _ = unix.Close(fd) }()
	now, ok := readProcess(p.pid)
	if !ok || now.start != p.start {
		return nil
	}
	return ignoreGone(unix.PidfdSendSignal(fd, sig, nil, 0))
}

// signalGroup signals the whole process group that p is in, and reports whether
// it could. The kernel does that in one step which no fork inside the group can
// escape, where signalling one process after another can chase a fork bomb for
// ever. The stage starts every tree in a session of its own and a group cannot
// leave its session, so no other spawn's process is in it.
func signalGroup(p process, sigs []unix.Signal) (bool, error) {
	if p.group <= 1 || p.group == unix.Getpgrp() {
		return false, nil // a stage that has not made its session yet; it is signalled by itself
	}
	now, ok := readProcess(p.pid)
	if !ok || now.start != p.start || now.group != p.group {
		return false, nil
	}
	for _, sig := range sigs {
		if err := unix.Kill(-p.group, sig); err != nil {
			return false, ignoreGone(err)
		}
	}
	return true, nil
}

func ignoreGone(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

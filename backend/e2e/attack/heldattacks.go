//go:build linux

package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// heldAttacks make calls that a person is asked about.
func heldAttacks() []attack {
	return []attack{
		{"B2", interruptHeld},
		{"ask", func(p place, r *report) { askMany(p, 1, r) }},
		{"ask-many", func(p place, r *report) { askMany(p, rounds(40), r) }},
		{"B16", func(p place, r *report) { askMany(p, rounds(40), r); again(p, r) }},
	}
}

// interruptHeld gets a signal every 10 ms while its call is held. SIGURG has a handler in
// every Go program, and so interrupts.
func interruptHeld(p place, r *report) {
	done := make(chan struct{})
	tid := make(chan int, 1)
	go func() {
		defer close(done)
		lockThread()
		tid <- unix.Gettid()
		fd, err := unix.Open(p.at("ask/file"), unix.O_WRONLY|unix.O_APPEND|unix.O_CLOEXEC, 0)
		r.wrote("open", fd, err)
	}()
	t := <-tid
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-done:
			r.count("signals", n)
			return
		case <-tick.C:
			_ = unix.Tgkill(unix.Getpid(), t, unix.SIGURG)
		}
	}
}

// askMany opens asked files at once, each from a thread of its own.
func askMany(p place, n int, r *report) {
	var opened, refused atomic.Int32
	var wg sync.WaitGroup
	began := time.Now()
	for i := range n {
		wg.Go(func() {
			fd, err := unix.Open(p.at(fmt.Sprintf("ask/many%d", i)), unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
			if err != nil {
				refused.Add(1)
				return
			}
			opened.Add(1)
			_ = unix.Close(fd)
		})
	}
	wg.Wait()
	r.count("opened", int(opened.Load()))
	r.count("refused", int(refused.Load()))
	r.count("ms", int(time.Since(began).Milliseconds()))
}

// again opens what was asked before, after the policy changed.
func again(p place, r *report) {
	fd, err := unix.Open(p.at("ask/afterwards"), unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
	r.wrote("open afterwards", fd, err)
}

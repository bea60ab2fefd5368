//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// executes has the test binary execute itself: "first" or "other", the thread that does so, and
// how often.
const executes = "LOOP_TEST_EXECUTES"

func TestMain(m *testing.M) {
	thread, times, is := strings.Cut(os.Getenv(executes), " ")
	if !is {
		os.Exit(m.Run())
	}
	n, _ := strconv.Atoi(times)
	if n == 0 {
		fmt.Println("done")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the test has looked
		return
	}
	again := func() {
		panic(syscall.Exec("/proc/self/exe", os.Args, []string{executes + "=" + thread + " " + strconv.Itoa(n-1)}))
	}
	if thread == "other" { // main has the first one to itself
		go again()
		select {}
	}
	again()
}

// TestExecutingShowsNoZombie: while another thread than the first executes a program, the kernel
// may show the process as a zombie. While the one that main is kept on does, it never does.
func TestExecutingShowsNoZombie(t *testing.T) {
	for _, c := range []struct {
		thread string
		times  int // of "other", more than it takes until it is seen
		seen   bool
	}{{"other", 1 << 20, true}, {"first", 100, false}} {
		t.Run(c.thread, func(t *testing.T) {
			cmd := exec.Command("/proc/self/exe")
			cmd.Env = []string{executes + "=" + c.thread + " " + strconv.Itoa(c.times)}
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _, _ = in.Close(), cmd.Process.Kill(); _ = cmd.Wait() }()
			said := make(chan string, 1)
			go func() {
				line, _ := bufio.NewReader(out).ReadString('\n')
				said <- line
			}()
			for looks := 0; ; looks++ {
				select {
				case line := <-said:
					if line != "done\n" || c.seen || looks == 0 {
						t.Fatalf("it said %q after %d looks", line, looks)
					}
					return
				default:
				}
				stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
				if err != nil {
					t.Fatal(err)
				}
				if _, state, _ := strings.Cut(string(stat), ") "); state[0] == 'Z' {
					if !c.seen {
						t.Fatalf("a zombie, at look %d", looks)
					}
					t.Logf("seen at look %d", looks)
					return
				}
			}
		})
	}
}

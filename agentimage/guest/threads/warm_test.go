//go:build linux

package threads

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"loop/backend/leaktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

func TestWarm(t *testing.T) {
	Warm(20)
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "Threads:")
	line, _, _ := strings.Cut(rest, "\n")
	if n, err := strconv.Atoi(strings.TrimSpace(line)); err != nil || n < 20 {
		t.Fatalf("%d threads, %v", n, err)
	}
}

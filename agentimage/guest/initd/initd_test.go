//go:build linux

package initd

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadIdentity(t *testing.T) {
	env := map[string]string{"LOOP_AGENT_UID": "1000", "LOOP_AGENT_GID": "100", "LOOP_AGENT_USER": "u", "HOME": "/home/u"}
	get := func(n string) string { return env[n] }
	who, err := readIdentity(get)
	if err != nil || who != (identity{1000, 100, "u", "/home/u"}) {
		t.Fatalf("%+v %v", who, err)
	}
	env["HOME"] = "relative"
	if who, err := readIdentity(get); err != nil || who.home != "/" {
		t.Fatalf("%+v %v", who, err)
	}
	for _, bad := range []string{"", "root", "-1", "64999", "4294967296", "1 "} {
		env["LOOP_AGENT_UID"] = bad
		if who, err := readIdentity(get); err == nil {
			t.Errorf("%q gave %+v", bad, who)
		}
	}
}

func TestCheckChownPath(t *testing.T) {
	for _, ok := range []string{"/home/u/.npm", "/go", "/var/cache/x", "/run/user"} {
		if err := checkChownPath(ok); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
	for _, bad := range []string{"", "/", "go", "/a/../b", "/a/", "/proc", "/proc/1", "/dev/pts", "/run/loop", "/run/loop/private", "/run", "/opt", "/opt/loop/bin", "/sys"} {
		if checkChownPath(bad) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// TestVerify refuses a move to the supervisor's user that left out any one of its
// steps.
func TestVerify(t *testing.T) {
	mask := fmt.Sprintf("%016x", keptMask())
	good := "Name:\tloop\nUid:\t64999\t64999\t64999\t64999\nGid:\t64999\t64999\t64999\t64999\nGroups:\t \nCapInh:\t" + mask + "\nCapPrm:\t" + mask + "\nCapEff:\t" + mask + "\nCapBnd:\tffff\nCapAmb:\t" + mask + "\n"
	file := filepath.Join(t.TempDir(), "status")
	check := func(text string) error {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return verify(file)
	}
	if err := check(good); err != nil {
		t.Fatal(err)
	}
	if keptMask()&1 != 0 {
		t.Fatal("CHOWN is kept")
	}
	for _, change := range [][2]string{
		{"Uid:\t64999\t64999\t64999\t64999", "Uid:\t64999\t64999\t0\t64999"},
		{"Gid:\t64999", "Gid:\t0"},
		{"Groups:\t ", "Groups:\t0 "},
		{"CapEff:\t" + mask, "CapEff:\t0000000000000000"},
		{"CapPrm:\t" + mask, "CapPrm:\tffffffffffffffff"},
		{"CapAmb:\t" + mask, "CapAmb:\t0000000000000000"},
		{"CapInh:\t" + mask, "CapInh:\tnonsense"},
		{"CapEff:\t" + mask + "\n", ""},
	} {
		if check(strings.Replace(good, change[0], change[1], 1)) == nil {
			t.Errorf("%q was accepted", change[1])
		}
	}
}

func TestOnlyPID1(t *testing.T) {
	if code := Main("test"); code != 2 {
		t.Fatalf("exit code %d", code)
	}
}

func testLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

package policy

import "testing"

// somewhere is a container as Loop makes it.
var somewhere = Place{
	Home: "/home/ada", Workspaces: []string{"/home/ada/src/app", "/work trees/two"},
	State: []string{"/opt/loop/.claude"}, RunDir: "/run/loop/runs/7f",
	CredentialGrants: []string{"/home/ada/.aws"},
}

func shipped(t testing.TB, name string) Policy {
	t.Helper()
	p, err := Baseline(name, somewhere)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

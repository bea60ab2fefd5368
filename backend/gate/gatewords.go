package gate

import (
	"path"
	"strings"

	"loop/backend/core"
	"loop/backend/policy"
	"loop/backend/wire"
)

var verbs = map[policy.Operation]string{
	policy.Read: "Read", policy.Write: "Write to", policy.Create: "Create", policy.Delete: "Delete",
	policy.Chmod: "Change the attributes of", policy.Chown: "Change the owner of", policy.Link: "Give a second name to",
}

var objects = map[policy.Category]string{
	policy.Ordinary: "a file", policy.Startup: "a start-up file", policy.Credential: "a credential",
	policy.Socket: "a protected socket", policy.Escape: "a file that leads out of the container", policy.GateOwn: "a file of the gate",
}

// title says in a few words what is about to happen.
func title(a wire.Approval) string {
	cat := policy.Category(a.Category)
	switch {
	case a.Kind == kindNavigate:
		return "Open a site"
	case a.Kind == wire.KindExec && cat == policy.Escape:
		return "Run a program that leads out of the container"
	case a.Kind == wire.KindExec && cat == policy.Credential:
		return "Run a program that handles credentials"
	case a.Kind == wire.KindExec:
		return "Run a program"
	case a.Kind == wire.KindConnect && (cat == policy.Ordinary || cat == policy.Startup):
		return "Connect to a local socket"
	case a.Kind == wire.KindConnect:
		return "Connect to a protected socket"
	case isGit(a.Target) && cat == policy.Startup && a.Operation != string(policy.Read):
		return "Change how Git behaves"
	}
	return verbs[policy.Operation(a.Operation)] + " " + objects[cat]
}

// why says what made the gate ask.
func why(a wire.Approval) string {
	switch {
	case a.Message != "":
		return core.Shortened(a.Message, 500)
	case a.Rule != "":
		return "the rule " + core.Shortened(a.Rule, 80) + " says to ask"
	}
	return "no rule covers it, and the default is to ask"
}

// risk says in a clause what follows if it is allowed.
func risk(a wire.Approval) string {
	op := policy.Operation(a.Operation)
	switch policy.Category(a.Category) {
	case policy.Credential:
		if op == policy.Read {
			return "the program learns a secret, and can send it anywhere that it can reach"
		}
		return "what signs you in elsewhere is changed or lost"
	case policy.Socket:
		return "the program can have the service behind it act with that service's rights"
	case policy.Escape:
		return "the program may act on this computer, outside its container"
	case policy.GateOwn:
		return "the gate may stop asking"
	case policy.Startup:
		return startupRisk(a, op)
	}
	switch {
	case a.Kind == kindNavigate:
		return "the browser sends the site what the address has, and shows the agent what comes back"
	case a.Kind == wire.KindExec:
		return "the program runs with everything that this container may do"
	case a.Kind == wire.KindConnect:
		return "the program can talk to whatever listens there"
	case op == policy.Read:
		return "the program learns what is in the file"
	case op == policy.Delete:
		return "the file is gone"
	case op == policy.Link:
		return "the file can be changed under its second name as well"
	case op == policy.Chmod, op == policy.Chown:
		return "others may be able to read, change or run the file"
	case a.InPlace && a.Append:
		return "the program can add what it likes to the end of this file, until it closes it"
	case a.InPlace:
		return "the program can write what it likes into this file, until it closes it"
	}
	return "the file becomes what is shown"
}

func startupRisk(a wire.Approval, op policy.Operation) string {
	switch {
	case op == policy.Read:
		return "the program learns what is in the file"
	case isGit(a.Target) && op == policy.Link:
		return "changes what Git does and runs, also when you use it, and can be changed under its other name without a question"
	case isGit(a.Target):
		return "changes what Git does and runs, also when you use it"
	case op == policy.Delete:
		return "what it did at every start is not done any more"
	case op == policy.Link:
		return "what is in it runs later by itself, and it can be changed under its other name, without a question"
	case a.InPlace && a.Append:
		return "the program can add what it likes to the end of this file, and that runs later without a question"
	case a.InPlace:
		return "the program can write what it likes into this file, and that runs later without a question"
	}
	return "what is in it runs later by itself, without a question"
}

// isGit says that a path belongs to Git's settings or hooks.
func isGit(p string) bool {
	base := path.Base(p)
	return base == ".gitconfig" || base == ".gitattributes" || strings.Contains(p, "/.git/") || strings.Contains(p, "/.config/git/")
}

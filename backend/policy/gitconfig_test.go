package policy

import (
	"slices"
	"strings"
	"testing"
)

const clonedConfig = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	logallrefupdates = true
[remote "origin"]
	url = https://example.org/ada/app.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
	remote = origin
	merge = refs/heads/main
`

const forked = "[branch \"fix\"]\n\tremote = fork\n\tmerge = refs/heads/fix\n"

func TestGitConfigChange(t *testing.T) {
	change := func(old, now string) string {
		if !strings.Contains(clonedConfig, old) {
			t.Fatalf("the configuration has no %q", old)
		}
		return strings.Replace(clonedConfig, old, now, 1)
	}
	for name, c := range map[string]struct {
		before, after string
		want          bool
	}{
		"nothing":                   {clonedConfig, clonedConfig, true},
		"git init":                  {"", "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n", true},
		"git clone":                 {"", clonedConfig, true},
		"push -u":                   {clonedConfig, clonedConfig + "[branch \"fix/a-1\"]\n\tremote = origin\n\tmerge = refs/heads/fix/a-1\n", true},
		"pull --rebase":             {clonedConfig, clonedConfig + "\trebase = true\n", true},
		"branch -d":                 {clonedConfig, change("[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n", ""), true},
		"name":                      {clonedConfig, clonedConfig + "[user]\n\tname = Ada \u00c5. Lovelace\n\temail = ada@example.org\n", true},
		"remote add":                {clonedConfig, clonedConfig + "[remote \"up\"]\n\turl = git@example.org:up/app.git\n\tfetch = +refs/heads/*:refs/remotes/up/*\n", true},
		"remote add with port":      {clonedConfig, clonedConfig + "[remote \"up\"]\n\turl = ssh://git@example.org:2222/up/app.git\n", true},
		"a comment":                 {clonedConfig, "# of mine\n" + clonedConfig, true},
		"case of a key":             {clonedConfig, change("filemode", "FileMode"), true},
		"how lines end":             {clonedConfig, clonedConfig + "[core]\n\tautocrlf = input\n\teol = lf\n", true},
		"how to merge and rebase":   {clonedConfig, clonedConfig + "[merge]\n\tconflictStyle = zdiff3\n[rebase]\n\tautoSquash = true\n[rerere]\n\tenabled = true\n", true},
		"how to push and fetch":     {clonedConfig, clonedConfig + "[push]\n\tdefault = current\n[fetch]\n\tprune = true\n", true},
		"a part of the files":       {clonedConfig, clonedConfig + "[core]\n\tsparseCheckout = true\n\tsparseCheckoutCone = true\n[index]\n\tsparse = false\n", true},
		"not signed":                {clonedConfig, clonedConfig + "[commit]\n\tgpgSign = false\n", true},
		"signed by a program":       {clonedConfig, clonedConfig + "[commit]\n\tgpgSign = true\n", false},
		"program that signs":        {clonedConfig, clonedConfig + "[gpg]\n\tprogram = id\n", false},
		"merge driver":              {clonedConfig, clonedConfig + "[merge \"x\"]\n\tdriver = id\n", false},
		"push all":                  {clonedConfig, clonedConfig + "[push]\n\tdefault = matching\n", false},
		"worktree's configuration":  {clonedConfig, clonedConfig + "[extensions]\n\tworktreeConfig = true\n", true},
		"another ref storage":       {clonedConfig, clonedConfig + "[extensions]\n\trefStorage = x\n", false},
		"submodule by a command":    {clonedConfig, clonedConfig + "[submodule \"x\"]\n\tupdate = !id\n", false},
		"remote set-url":            {clonedConfig, change("https://example.org", "https://example.com"), false},
		"remote remove":             {clonedConfig, change("\turl = https://example.org/ada/app.git\n", ""), false},
		"second url":                {clonedConfig, change("\tfetch", "\turl = https://example.com/x.git\n\tfetch"), false},
		"pushurl":                   {clonedConfig, change("\tfetch", "\tpushurl = https://example.com/x.git\n\tfetch"), false},
		"remote helper":             {"", "[remote \"up\"]\n\turl = ext::sh -c id\n", false},
		"local path":                {"", "[remote \"up\"]\n\turl = ../evil\n", false},
		"option as host":            {"", "[remote \"up\"]\n\turl = ssh://-oProxyCommand=id/x\n", false},
		"password in address":       {"", "[remote \"up\"]\n\turl = https://a:b@example.org/x\n", false},
		"file address":              {"", "[remote \"up\"]\n\turl = file:///x\n", false},
		"branch of a fork goes":     {clonedConfig + forked, clonedConfig, true},
		"branch of a fork stays":    {clonedConfig + forked, clonedConfig + forked + "[user]\n\tname = a\n", true},
		"branch follows a fork":     {clonedConfig, clonedConfig + forked, false},
		"branch goes to a fork":     {clonedConfig, change("remote = origin", "remote = fork"), false},
		"branch follows a command":  {clonedConfig, change("remote = origin", "remote = ext::id"), false},
		"branch follows a path":     {clonedConfig, change("remote = origin", "remote = ../evil"), false},
		"branch out of its folder":  {clonedConfig, change("refs/heads/main", "refs/heads/x/../../../y"), false},
		"refspec over branches":     {clonedConfig, change("refs/remotes/origin/*", "refs/heads/*"), false},
		"vcs of a remote":           {clonedConfig, change("\tfetch", "\tvcs = evil\n\tfetch"), false},
		"uploadpack":                {clonedConfig, change("\tfetch", "\tuploadpack = id\n\tfetch"), false},
		"bare":                      {clonedConfig, change("bare = false", "bare = true"), false},
		"fsmonitor":                 {clonedConfig, change("bare = false", "fsmonitor = id"), false},
		"hooksPath":                 {clonedConfig, clonedConfig + "[core]\n\thooksPath = x\n", false},
		"sshCommand":                {clonedConfig, clonedConfig + "[core]\n\tsshCommand = id\n", false},
		"worktree":                  {clonedConfig, clonedConfig + "[core]\n\tworktree = /\n", false},
		"include":                   {clonedConfig, clonedConfig + "[include]\n\tpath = x\n", false},
		"includeIf":                 {clonedConfig, clonedConfig + "[includeIf \"gitdir:/\"]\n\tpath = x\n", false},
		"alias":                     {clonedConfig, clonedConfig + "[alias]\n\tst = !id\n", false},
		"filter":                    {clonedConfig, clonedConfig + "[filter \"x\"]\n\tclean = id\n", false},
		"diff":                      {clonedConfig, clonedConfig + "[diff \"x\"]\n\ttextconv = id\n", false},
		"credential":                {clonedConfig, clonedConfig + "[credential]\n\thelper = !id\n", false},
		"insteadOf":                 {clonedConfig, clonedConfig + "[url \"https://evil/\"]\n\tinsteadOf = https://example.org/\n", false},
		"name with a sub-section":   {clonedConfig, clonedConfig + "[user \"x\"]\n\tname = a\n", false},
		"order of the rest":         {"[a]\n\tx = 1\n\ty = 2\n", "[a]\n\ty = 2\n\tx = 1\n", false},
		"key on the section's line": {clonedConfig, clonedConfig + "[user] name = a\n", false},
		"old sub-section":           {clonedConfig, clonedConfig + "[branch.x]\n\tremote = origin\n", false},
		"continued line":            {clonedConfig, clonedConfig + "[user]\n\tname = a\\\n[alias]\n", false},
		"quoted in part":            {clonedConfig, clonedConfig + "[user]\n\tname = a\"b\"\n", false},
		"comment after a value":     {clonedConfig, clonedConfig + "[user]\n\tname = a ; b\n", false},
		"tab in a value":            {clonedConfig, clonedConfig + "[user]\n\tname = a\tb\n", false},
		"before a section":          {"", "name = a\n", false},
		"carriage return":           {clonedConfig, strings.ReplaceAll(clonedConfig, "\n", "\r\n"), false},
		"NUL":                       {clonedConfig, clonedConfig + "\x00", false},
		"bidi":                      {clonedConfig, clonedConfig + "# \u202e\n", false},
		"zero width":                {clonedConfig, clonedConfig + "[user]\n\tname = a\u200bb\n", false},
		"byte order mark":           {clonedConfig, "\ufeff" + clonedConfig, false},
		"not UTF-8":                 {clonedConfig, clonedConfig + "# \xff\n", false},
		"large":                     {clonedConfig, clonedConfig + strings.Repeat("#\n", maxGitConfig/2), false},
		"address out of its place":  {"", "[remote \"up\"]\n\turl = https://example.org/a/../../b\n", false},
		"address as a name":         {"", "[remote \"https://evil.example/x\"]\n\turl = https://example.org/a\n", false},
		"option as a name":          {"", "[remote \"-x\"]\n\turl = https://example.org/a\n", false},
		"odd in both: no section":   {"name = a\n", "name = a\n[user]\n\tname = a\n", false},
		"odd in both: old section":  {"[branch.x]\n", "[branch.x]\n[user]\n\tname = a\n", false},
		"odd in both: quoted":       {"[branch \"a\\\"b\"]\n", "[branch \"a\\\"b\"]\n[user]\n\tname = a\n", false},
		"odd in both: key":          {"[a]\n\tb_c = 1\n", "[a]\n\tb_c = 1\n[user]\n\tname = a\n", false},
		"odd before":                {"[user] name = a\n", clonedConfig, false},
		"branch of a fork moves": {forked, strings.Replace(forked, "= fork", "= origin", 1) +
			"[remote \"origin\"]\n\turl = https://evil.example/x.git\n", false},
		"branch of a fork moves later": {clonedConfig + forked, clonedConfig + strings.Replace(forked, "= fork", "= origin", 1), false},
		"branch of a fork has two":     {clonedConfig + forked, clonedConfig + forked + "\tremote = origin\n", false},
	} {
		if got := GitConfigChange([]byte(c.before), []byte(c.after)); got != c.want {
			t.Errorf("%s: inert is %v", name, got)
		}
	}
}

func TestContent(t *testing.T) {
	agent := compiled(t, shipped(t, NameAgent))
	git := somewhere.Workspaces[0] + "/.git/"
	name := []byte("[user]\n\tname = a\n")
	alias := []byte("[alias]\n\tx = !id\n")
	for _, c := range []struct {
		what          string
		op            Operation
		path          string
		before, after []byte
		want          bool
	}{
		{"git init", Create, git + "config", nil, []byte(clonedConfig), true},
		{"in other letters", Write, somewhere.Workspaces[0] + "/.GIT/CONFIG", nil, name, true},
		{"an alias", Write, git + "config", name, alias, false},
		{"in the home", Write, "/home/ada/.gitconfig", nil, name, true},
		{"the same shell file", Write, "/home/ada/.bashrc", alias, alias, true},
		{"an empty shell file", Create, "/home/ada/.bashrc", nil, nil, false},
		{"a hook that looks like a configuration", Create, git + "hooks/config", nil, name, false},
		{"a working tree's", Create, git + "worktrees/x/config.worktree", nil, []byte("[core]\n\tsparseCheckout = true\n"), true},
		{"a working tree's alias", Create, git + "worktrees/x/config.worktree", nil, alias, false},
		{"commondir", Create, git + "commondir", nil, name, false},
		{"attributes", Create, "/home/ada/.config/git/attributes", nil, name, false},
		{"a deletion", Delete, git + "config", name, nil, false},
		{"a key", Write, "/home/ada/.ssh/config", name, name, false},
		{"what is allowed anyway", Write, "/tmp/config", nil, name, false},
	} {
		if got := agent.Content(c.op, c.path, c.before, c.after); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
	same := []byte("Host *\n")
	if compiled(t, shipped(t, NamePerson)).Content(Write, "/home/ada/.ssh/config", same, same) {
		t.Error("a person's question about a key is not asked")
	}
	settings := "/opt/loop/.claude/settings.json"
	for after, want := range map[string]bool{
		`{"hooks": {}, "model": "opus", "theme": "dark"}`:          true,
		`{"hooks": {}, "skipDangerousModePermissionPrompt": true}`: true,
		`{"theme": "light", "hooks":{ }}`:                          true,
		`{"model": "opus"}`:                                        false, // the hooks are gone
		`{"hooks": {"Stop": []}, "model": "opus"}`:                 false,
		`{"hooks": {}, "model": "a", "model": "b"}`:                false,
		`{"hooks": {}, "Model": "a"}`:                              false,
		`{"hooks": {}, "model": {"x": 1}}`:                         false,
		"{\"hooks\": {}, \"model\": \"a\u202e\"}":                  false,
		`{"hooks": {}, "apiKeyHelper": "id"}`:                      false,
		`{"hooks": {}, "statusLine": "id"}`:                        false,
		`{"hooks": {}, "language": "x", "model": "a"}`:             false,
		`{"hooks": {}} {}`:                                         false,
		`{"hooks": {}, /* */ "theme": "x"}`:                        false,
		`[]`:                                                       false,
		`null`:                                                     false,
	} {
		if got := agent.Content(Write, settings, []byte(`{"hooks": {}, "model": "sonnet"}`), []byte(after)); got != want {
			t.Errorf("settings %s: %v", after, got)
		}
	}
	if agent.Content(Write, "/opt/loop/.claude/hooks/settings.json", []byte(`{}`), []byte(`{"theme": "x"}`)) ||
		agent.Content(Write, "/opt/loop/.claude/CLAUDE.md", []byte(`{}`), []byte(`{"theme": "x"}`)) {
		t.Error("the wrong files are settings")
	}
	if compiled(t, shipped(t, NamePlan)).Content(Write, git+"config", nil, name) {
		t.Error("a plan changes a configuration")
	}
	mine := Merge(shipped(t, NameAgent), Policy{FileRules: []FileRule{{ID: "mine", Paths: []string{"/**/.git/config"}, Decision: Approve}}})
	if compiled(t, mine).Content(Write, git+"config", nil, name) {
		t.Error("a rule of the person's asks, and is not asked")
	}
}

func FuzzGitConfigChange(f *testing.F) {
	f.Add([]byte(clonedConfig), []byte(clonedConfig+"[user]\n\tname = a\n"))
	f.Add([]byte(""), []byte("[include]\n\tpath = x\n"))
	f.Add([]byte("[a \"b\"]\nc"), []byte("[a \"b\"]\n\tc = \"true\""))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		if !GitConfigChange(before, after) {
			return
		}
		if plainText(before) != nil || plainText(after) != nil {
			t.Fatal("what cannot be read is inert")
		}
		if GitConfigChange(before, append([]byte("[alias]\n\tx = !id\n"), after...)) {
			t.Fatal("an alias is inert")
		}
		old, err := parseGitConfig(before)
		if err != nil {
			t.Fatal(err)
		}
		now, err := parseGitConfig(after)
		if err != nil {
			t.Fatal(err)
		}
		harmless := []string{"user", "core", "init", "pull", "push", "branch", "remote"}
		for _, e := range now {
			if slices.Contains(old, e) {
				continue
			}
			if !slices.Contains(harmless, e.section) || e.section != "user" && strings.ContainsAny(e.value, "!$`;|& ") || strings.Contains(e.value, "::") && e.section != "user" {
				t.Fatalf("%+v came in", e)
			}
		}
	})
}

package core

import "testing"

func TestAlarms(t *testing.T) {
	for path, want := range map[string]string{
		".husky/pre-commit": "hook", "web/.husky/_/h": "hook", ".git/hooks/pre-push": "hook", ".pre-commit-config.yaml": "hook", "lefthook.yml": "hook",
		".githooks": "hook", ".husky": "hook", ".git/config": "git", ".gitattributes": "git", "sub/.GitAttributes": "git", ".gitmodules": "git",
		".github/workflows/ci.yml": "ci", ".github/actions/a/action.yml": "ci", ".gitlab-ci.yml": "ci", "Jenkinsfile": "ci", ".circleci/config.yml": "ci",
		".vscode/tasks.json": "ide", "web/.vscode/settings.json": "ide", ".idea/workspace.xml": "ide", "my.code-workspace": "ide",
		".devcontainer/devcontainer.json": "ide", ".claude/settings.json": "agent", ".claude/settings.local.json": "agent", ".mcp.json": "agent",
		"CLAUDE.md": "agent", "docs/AGENTS.md": "agent", ".loop/config.json": "agent", ".envrc": "shell",
		"main.go": "", ".github/ISSUE_TEMPLATE.md": "", ".vscode/notes.md": "", "hooks/use.ts": "", "src/hooks/pre-commit.ts": "", "package-lock.json": "",
		"package.json": "install", "web/Package.json": "install", "setup.py": "install", "crates/x/build.rs": "install", ".npmrc": "install",
		"docs/Jenkinsfile.md": "", "agents.mdx": "", "": "",
	} {
		got := ""
		if a := AlarmOf(path); a != nil {
			got = a.Kind
			if a.Word == "" || a.Why == "" {
				t.Errorf("%q: no words", path)
			}
		}
		if got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
}

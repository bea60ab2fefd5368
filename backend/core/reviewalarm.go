package core

import (
	"path"
	"slices"
	"strings"
)

type dirsAndName = func(dirs []string, name string) bool

// alarms are kinds of files that reach further than the project, the first that fits counting.
var alarms = []struct {
	ReviewAlarm
	fits dirsAndName
}{
	{ReviewAlarm{Kind: "hook", Word: "Git hook", Why: "runs on your computer when you commit"},
		func(dirs []string, name string) bool {
			return under(dirs, ".husky", ".githooks") || pair(dirs, ".git", "hooks") || top(dirs) && slices.Contains([]string{
				".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".huskyrc", ".huskyrc.json"}, name)
		}},
	{ReviewAlarm{Kind: "git", Word: "Git config", Why: "changes what git runs on a commit"},
		func(dirs []string, name string) bool {
			return under(dirs, ".git") || slices.Contains([]string{".gitattributes", ".gitmodules", ".gitconfig"}, name)
		}},
	{ReviewAlarm{Kind: "ci", Word: "CI workflow", Why: "runs with the secrets of your CI"},
		func(dirs []string, name string) bool {
			return first(dirs, ".circleci", ".buildkite", ".gitea", ".forgejo", ".woodpecker") ||
				len(dirs) > 1 && first(dirs, ".github") && (dirs[1] == "workflows" || dirs[1] == "actions") ||
				top(dirs) && slices.Contains([]string{".gitlab-ci.yml", ".gitlab-ci.yaml", "jenkinsfile", ".travis.yml", "azure-pipelines.yml",
					"bitbucket-pipelines.yml", ".drone.yml", ".woodpecker.yml", ".cirrus.yml", "appveyor.yml"}, name)
		}},
	{ReviewAlarm{Kind: "ide", Word: "Dev container", Why: "runs when your editor opens the folder in a container"},
		func(dirs []string, name string) bool {
			return under(dirs, ".devcontainer") || name == ".devcontainer.json" || name == "devcontainer.json"
		}},
	{ReviewAlarm{Kind: "ide", Word: "IDE task", Why: "runs in your editor, some as soon as the folder is opened"},
		func(dirs []string, name string) bool {
			return under(dirs, ".idea", ".zed", ".fleet", ".run") || strings.HasSuffix(name, ".code-workspace") ||
				last(dirs) == ".vscode" && slices.Contains([]string{"tasks.json", "launch.json", "settings.json", "extensions.json"}, name)
		}},
	{ReviewAlarm{Kind: "agent", Word: "Agent settings", Why: "changes what the next agent is told or may do"},
		func(dirs []string, name string) bool {
			return under(dirs, ".claude", ".loop", ".cursor", ".codex", ".gemini") || slices.Contains([]string{
				".mcp.json", "claude.md", "claude.local.md", "agents.md", "gemini.md", ".cursorrules", ".windsurfrules",
				"copilot-instructions.md"}, name)
		}},
	{ReviewAlarm{Kind: "install", Word: "Install script", Why: "may run programs when the project is installed or built"},
		func(_ []string, name string) bool {
			return slices.Contains([]string{
				"package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".pnpmfile.mjs", ".pnp.cjs", "bunfig.toml", "binding.gyp",
				"composer.json", "setup.py", "conanfile.py", "extconf.rb", "build.rs"}, name)
		}},
	{ReviewAlarm{Kind: "shell", Word: "Shell start-up", Why: "runs when a shell enters the folder"},
		func(_ []string, name string) bool {
			return name == ".envrc" || name == ".mise.toml" || name == "mise.toml"
		}},
}

// AlarmOf says whether a file reaches further than its project, by its path alone; nil is no.
// Letters count as small ones, as they do on many computers that check the project out.
func AlarmOf(p string) *ReviewAlarm {
	p = strings.ToLower(strings.TrimSuffix(p, "/"))
	dirs, name := strings.Split(path.Dir(p), "/"), path.Base(p)
	if path.Dir(p) == "." {
		dirs = nil
	}
	for _, a := range alarms {
		// A file in the place of a folder, or a link, counts as the folder does.
		if a.fits(dirs, name) || a.fits(append(slices.Clone(dirs), name), "") {
			return &ReviewAlarm{Kind: a.Kind, Word: a.Word, Why: a.Why}
		}
	}
	return nil
}

func top(dirs []string) bool { return len(dirs) == 0 }

func first(dirs []string, names ...string) bool {
	return len(dirs) > 0 && slices.Contains(names, dirs[0])
}

func last(dirs []string) string {
	if len(dirs) == 0 {
		return ""
	}
	return dirs[len(dirs)-1]
}

func under(dirs []string, names ...string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return slices.Contains(names, d) })
}

func pair(dirs []string, above, below string) bool {
	i := slices.Index(dirs, above)
	return i >= 0 && i+1 < len(dirs) && dirs[i+1] == below
}

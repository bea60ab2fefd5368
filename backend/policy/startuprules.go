package policy

import "slices"

// Files below a home that run later by themselves, by whom they are read.
var (
	shellFiles = []string{
		".{bashrc,bash_profile,bash_login,bash_logout,bash_aliases,profile,inputrc,login,logout}",
		".{zshrc,zshenv,zprofile,zlogin,zlogout,kshrc,mkshrc,cshrc,tcshrc,lessfilter,pam_environment}",
		".config/fish/{config.fish,conf.d/**,functions/**,completions/**}",
		".{xprofile,xinitrc,xsession,xsessionrc}", ".config/{autostart,environment.d,systemd}/**",
		".config/direnv/**", ".direnvrc", ".local/share/direnv/allow/**",
		".{bash_completion,xonshrc}", ".config/{zsh,nushell,elvish,xonsh,powershell}/**", ".config/starship.toml", ".oh-my-zsh/custom/**",
		".local/share/{bash-completion/completions,systemd/user,dbus-1/services,applications}/**",
	}
	editorFiles = []string{
		".{vimrc,gvimrc,exrc,nanorc,emacs,emacs.el,tmux.conf,screenrc,gdbinit,lldbinit,irbrc,pryrc,Rprofile,psqlrc,sqliterc,mailcap}",
		".vim/{vimrc,gvimrc,autoload/**,plugin/**,ftplugin/**,after/**,pack/**}",
		".config/nvim/{init.vim,init.lua,lua/**,plugin/**,ftplugin/**,after/**,autoload/**}",
		".emacs.d/{init.el,early-init.el,lisp/**}", ".config/emacs/{init.el,early-init.el,lisp/**}",
		".config/tmux/**", ".config/gdb/**",
	}
	toolFiles = []string{
		".{npmrc,yarnrc,yarnrc.yml,bunfig.toml,gemrc,pydistutils.cfg}", ".config/{pip,pnpm}/**", ".pip/pip.conf",
		".cargo/{config,config.toml}", ".bundle/config", ".m2/settings.xml", ".config/go/env",
		".gradle/{init.gradle,init.gradle.kts,gradle.properties,init.d/**}",
		".gnupg/*.conf", ".docker/cli-plugins/**", ".local/share/helm/plugins/**", ".config/{mise,pre-commit}/**",
	}
	// Commands that a person types, for which an agent could put another program first.
	typedCommands = "{sh,bash,dash,zsh,fish,sudo,su,ssh,scp,sftp,rsync,git,gh,glab,ls,cat,cp,mv,rm,cd," +
		"grep,find,sed,less,env,which,ps,kill,tar,make,vi,vim,nvim,nano,emacs,code," +
		"tmux,screen,curl,wget,docker,podman,kubectl,systemctl,crontab,gpg,claude,loop}"
	// Files of a project that run when somebody opens it, enters it, commits in it, or installs
	// its packages. Husky's own folder “_” is none of them: each npm install writes it.
	projectFiles = []string{
		".envrc", ".npmrc", ".yarnrc", ".yarnrc.yml", "bunfig.toml", ".cargo/{config,config.toml}", "{mise.toml,.mise.toml,.mise/config.toml}",
		".vscode/tasks.json", ".idea/{workspace.xml,startup.xml,watcherTasks.xml,runConfigurations/**}", ".devcontainer.json", ".devcontainer/**",
		".husky/*", "{lefthook,.lefthook}.{yml,yaml,toml,json}", ".pre-commit-config.yaml",
	}
	gitHomeFiles = []string{".gitconfig", ".config/git/{config,attributes,hooks/**}"}
	claudeFiles  = []string{
		"{settings.json,settings.local.json,CLAUDE.md}", "{hooks,skills,agents,commands,plugins,rules,output-styles}/**",
	}
	// What the CLI itself writes while it works, seen in its system calls.
	claudeOwnFiles = []string{
		"plugins/{store,marketplaces}/**", "plugins/{known_marketplaces,install-counts-cache,blocklist}.json*",
		"plugins/*.json.{lock,tmp.*}", // beside a file that is asked for when they are moved onto it
	}
	// The CLI writes its state into one of these, by its version and its account.
	claudeStateFiles = []string{"{.claude,.claude-staging-oauth,.claude-local-oauth,.claude-custom-oauth}.json"}

	gitDirFiles  = []string{"config", "config.worktree", "commondir"}
	gitDirHooks  = "hooks/**"
	gitDirSample = "hooks/*.sample"
)

// startup adds the rules for what runs later by itself: whoever changes it acts
// outside the run, with nobody looking.
func (b *baseline) startup() {
	b.file("startup.shell", Startup, b.ask, mutations,
		says{"This file runs whenever a shell or a session starts.",
			"Keep the setting in a file of the project and source it, or ask the person to add the line."},
		below(b.homes, shellFiles...)...)
	b.file("startup.shell-state", Startup, b.ask, changes,
		says{"The fish shell takes its variables, PATH among them, from this file whenever it starts.",
			"Set the variable in the command that needs it."},
		below(b.homes, ".config/fish/fish_variables")...)
	b.file("startup.editor", Startup, b.ask, texts,
		says{"This file runs whenever an editor, a multiplexer or another tool starts.", "Use the tool's option for this once."},
		below(b.homes, editorFiles...)...)
	b.file("startup.tool", Startup, b.ask, texts,
		says{"This file tells a package manager or a compiler what to run or where to fetch from, in every project.",
			"Use an option of the command, or a file of this project."},
		below(b.homes, toolFiles...)...)
	b.file("startup.program", Startup, b.ask, changes,
		says{"This program is there already, and whoever runs it next would run what is written now.",
			"Install it under another name, or remove it first."},
		below(b.homes, "{.local/bin,bin}/**")...)
	b.file("startup.shadow", Startup, b.ask, []Operation{Create},
		says{"Whoever types this command next would run what is put here, and not the program of the system.",
			"Install it under another name."},
		below(b.homes, ".local/bin/"+typedCommands, "bin/"+typedCommands)...)
	b.file("startup.system", Startup, b.ask, mutations,
		says{"This file runs for every user of the container, whenever a shell or a program starts.", "Use a setting of the project."},
		"/etc/{profile,bash.bashrc,bash_completion,environment,gitconfig,inputrc,ld.so.preload,npmrc,pip.conf,zshenv}",
		"/etc/{zshrc,zprofile,csh.cshrc,csh.login,vimrc,tmux.conf,ld.so.conf}",
		"/etc/{profile.d,zsh,fish,vim,xdg/autostart,ld.so.conf.d,ssh/ssh_config.d}/**", "/etc/ssh/ssh_config",
		"/etc/{cron.d,cron.daily,cron.hourly,cron.weekly,cron.monthly,claude-code,systemd}/**", "/etc/crontab", "/var/spool/cron/**")
	b.agents()
	b.git()
	workspaces := quoted(b.Workspaces)
	b.file("startup.project", Startup, b.ask, texts,
		says{"This file runs, or says what to run, whenever somebody opens the project, commits or installs its packages.",
			"Show the person what should stand in it."},
		below(workspaces, projectFiles...)...)
	b.file("startup.loop", Startup, b.ask, mutations,
		says{"This folder holds the project's settings of Loop.", "Show the person what should stand in it."},
		below(workspaces, ".loop/**")...)
	b.file("startup.venv", Startup, b.ask, changes,
		says{"A shell sources this script to use the environment.", "Create the environment anew instead."},
		"/**/bin/activate", "/**/bin/activate.{fish,csh,nu,ps1,bat}", "/**/bin/Activate.ps1")
}

func (b *baseline) agents() {
	dirs := append(below(quoted(b.Workspaces), ".claude"), b.claude...)
	b.file("startup.agent-state", Startup, Allow, contents, says{}, below(b.claude, claudeOwnFiles...)...)
	b.file(ruleAgent, Startup, b.ask, mutations,
		says{"This file tells agents what to do or what to run, in later runs as well.", "Say in the conversation what should stand in it."},
		append(below(dirs, claudeFiles...), below(quoted(b.Workspaces), ".mcp.json")...)...)
	b.file(ruleAgentConfig, Startup, b.ask, texts,
		says{"In this file the agent CLI also keeps which servers and tools later sessions start, and whom they trust.",
			"Ask the person to add the server in Loop's settings."},
		append(below(b.claude, append(claudeStateFiles, ".config.json")...), below(b.homes, claudeStateFiles...)...)...)
}

const gitAdvice = "Use an option of the command (git -c), or ask the person to set it."

func (b *baseline) git() {
	b.file(ruleGitHome, Startup, b.ask, mutations,
		says{"Git takes commands to run from this file, in every repository.", gitAdvice},
		below(b.homes, gitHomeFiles...)...)
	workspaces := quoted(b.Workspaces)
	dirs := below(workspaces, ".git", ".git/modules/**")
	if b.policy.Name != NamePlan {
		b.file("startup.git-sample", Startup, Allow, contents, says{}, below(dirs, gitDirSample)...)
	}
	// Git tries a chmod on a new configuration, whose mode makes no difference.
	b.file(ruleGitConfig, Startup, b.ask, texts,
		says{"Git takes commands to run and addresses to push to from this file.", gitAdvice},
		append(below(dirs, gitDirFiles...), below(workspaces, ".git/worktrees/*/config.worktree")...)...)
	b.file("startup.git-hook", Startup, b.ask, mutations,
		says{"Git runs the programs in this folder at every commit, checkout or push.",
			"Keep the check in a file of the project and ask the person to install it."},
		below(dirs, gitDirHooks)...)
	b.file("startup.git-worktree", Startup, b.ask, changes,
		says{"This file says which configuration a working tree takes.", "Create the working tree anew instead."},
		below(workspaces, ".git/worktrees/*/commondir")...)
	b.file("startup.git-pointer", Startup, b.ask, mutations,
		says{"This name decides which repository, and so which configuration and hooks, git takes for the project.",
			"Make the repository in another folder."},
		below(workspaces, ".git")...)
}

// plan adds what a run that only plans may still write.
func (b *baseline) plan() {
	own := []string{"/tmp/**", "/var/tmp/**", "/dev/shm/**", "/dev/pts/**",
		"/dev/{null,zero,full,random,urandom,tty,ptmx,stdin,stdout,stderr,console}", "/dev/fd/**", "/proc/**"}
	for _, state := range b.State {
		if state != b.Home { // in which programs of later runs are
			own = append(own, Quote(state)+"/**")
		}
	}
	own = append(own, below(b.homes, ".cache/**", ".claude/**", ".claude.json*", ".local/state/**", ".npm/**")...)
	plans := says{"This run only plans: it may write its own state and temporary files, and nothing else.",
		"Describe the change in the plan, or write a draft below /tmp."}
	b.file("plan.project", Ordinary, Deny, mutations, plans, below(quoted(slices.Concat(b.Workspaces, b.Mounts)), "**")...)
	b.file("plan.program", Ordinary, Deny, mutations, plans, // the CLI, where it has installed itself
		below(b.claude, "local/**")...)
	b.file("plan.own", Ordinary, Allow, mutations, says{}, own...)
	b.file("plan.files", Ordinary, Deny, mutations, plans, "/**")
}

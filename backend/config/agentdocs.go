package config

// agentDocs says what the fields of agents are for, by their names below agents.defaults.
var agentDocs = map[string]string{
	"sandbox": "Where the programs of agents run.",
	"sandbox.mode": "Which channels of an agent have a container: all, the default; non-main, all but those of projects themselves " +
		"(threads and worktrees have one); off, none. A channel without one runs on this computer, where the gate holds nothing.",
	"sandbox.scope": "Who shares a container; empty is agent. shared: all channels of this Loop folder whose projects have no settings " +
		"of their own. agent: the channels of an agent that work in one folder. session and run: see container_scope.",
	"sandbox.layout":          "Where the agent finds its folder; see workspace_layout.",
	"sandbox.workspaceAccess": "What an agent may do with its folder; see workspace_access.",
	"sandbox.docker": "The container. Fields that container_image and the like have as well count before " +
		"those.",
	"sandbox.docker.image":           "Image of containers.",
	"sandbox.docker.containerPrefix": "Beginning of the container's name; empty is loop-.",
	"sandbox.docker.workdir":         "Where the copy of the agent's folder lies in the container.",
	"sandbox.docker.readOnlyRoot":    "Keep the image as it is, except for mounts and folders in memory.",
	"sandbox.docker.tmpfs": "Further folders in memory: /path or /path:size=64m,mode=1777,exec. /tmp, /var/tmp and " +
		"/run are there already.",
	"sandbox.docker.network": "bridge, none, or the name of a network of the engine.",
	"sandbox.docker.user": "Number of the user that agents run as, or user:group; empty is yours, so that files are " +
		"yours.",
	"sandbox.docker.capDrop": "Capabilities to take away. Loop takes all of them, whatever this says.",
	"sandbox.docker.env":     "Environment variables, as in envs.",
	"sandbox.docker.setupCommand": "A shell command that root runs once in a new container, before anything else does. The image's " +
		"files can be written then, also afterwards.",
	"sandbox.docker.setupNetwork": "Network of setupCommand alone: bridge or none. Empty is the container's own, and bridge where " +
		"that is none.",
	"sandbox.docker.pidsLimit":  "Limit on processes and threads.",
	"sandbox.docker.memory":     "Memory limit, like 512m or 2g.",
	"sandbox.docker.memorySwap": "Limit on memory and swap together, like 4g.",
	"sandbox.docker.cpus":       "CPU limit.",
	"sandbox.docker.gpus":       "all gives the container every graphics processor.",
	"sandbox.docker.ulimits": `Limits of single processes: {"nofile": 1024}, {"nofile": "1024:2048"} or {"nofile": ` +
		`{"soft": 1024, "hard": 2048}}.`,
	"sandbox.docker.seccompProfile": "File with a filter of system calls in Docker's form; relative names begin in the folder " +
		"of this file.",
	"sandbox.docker.apparmorProfile": "Name of an AppArmor profile that this computer has.",
	"sandbox.docker.dns":             "Addresses of name servers.",
	"sandbox.docker.extraHosts":      "Names that containers know, as name:address.",
	"sandbox.docker.binds": "Mounts, as in mounts, of folders that the agent works in and of those in " +
		"allowedBindSources.",
	"sandbox.docker.allowedBindSources":                  "Folders of this computer that binds may come from.",
	"sandbox.docker.dangerouslyAllowExternalBindSources": "Let binds come from anywhere that mounts may.",
	"sandbox.prune":            "When a container that nobody holds ends.",
	"sandbox.prune.idleHours":  "After so long without use; 0 never.",
	"sandbox.prune.maxAgeDays": "So long after it was made; 0 never.",
}

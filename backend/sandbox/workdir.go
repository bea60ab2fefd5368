package sandbox

import (
	"fmt"

	"loop/backend/core"
)

// work is the directory a channel is bound to, after it was found fit.
type work struct {
	dir       string // host path as the person knows it, clean
	isDefault bool   // the folder Loop made for the channel
}

// stateDir is one of the directories that Loop keeps for a channel.
func stateDir(s pathStyle, loopHome string, ch core.ChannelID, name string) string {
	return s.join(loopHome, "channels", string(ch), name)
}

func failDir(cause, remedy string) error { return core.Fail(core.CodeDir, nil, cause, remedy) }

// resolveWorkDir judges the channel's directory by the host's facts.
func resolveWorkDir(sub Subject, host Host) (work, error) {
	s := host.style()
	def := stateDir(s, host.LoopHome, sub.Channel.ID, "work")
	dir := sub.Channel.Dir
	if dir == "" {
		dir = def
	}
	dir, err := plainDir(dir, s)
	if err != nil {
		return work{}, err
	}
	w := work{dir: dir, isDefault: ownWorkDir(sub, host, dir)}
	return w, checkProjectDir("folder", dir, w.isDefault, host)
}

// plainDir is dir cleaned, if it is a path that can be written down.
func plainDir(dir string, s pathStyle) (string, error) {
	if err := plainText(dir); err != nil {
		return "", failDir(fmt.Sprintf("The folder %q cannot be used: %v.", dir, err), "Rename the folder, then choose it again.")
	}
	if !s.abs(dir) {
		return "", failDir("The folder "+quote(dir)+" is not an absolute path.", "Choose the folder again.")
	}
	return s.clean(dir), nil
}

// ownWorkDir reports whether dir is the default folder of the channel or of
// its parent (whose folder a thread shares): the only places below LOOP_HOME
// that a container may have as workspace.
func ownWorkDir(sub Subject, host Host, dir string) bool {
	s := host.style()
	for _, id := range []core.ChannelID{sub.Channel.ID, sub.Channel.StateOwner()} {
		if id == "" || !channelPattern.MatchString(string(id)) {
			continue
		}
		own := stateDir(s, host.LoopHome, id, "work")
		ownReal := stateDir(s, host.resolved(host.LoopHome), id, "work")
		if s.within(own, dir) && s.within(ownReal, host.resolved(dir)) {
			return true
		}
	}
	return false
}

// checkProjectDir judges a directory that the agent is to work in.
func checkProjectDir(what, dir string, own bool, host Host) error {
	s := host.style()
	other := "Choose a project folder instead."
	if s.isRoot(dir) || s.isRoot(host.resolved(dir)) {
		return failDir(fmt.Sprintf("The %s %s is the whole file system, which an agent must not be given.", what, quote(dir)), other)
	}
	f := host.fact(dir)
	switch f.Kind {
	case PathDir:
	case PathMissing:
		return failDir(fmt.Sprintf("The %s %s does not exist any more.", what, quote(dir)), "Put it back, or choose another folder for the channel.")
	case PathDenied:
		return core.Fail(core.CodeDir, fmt.Errorf("look at %s: %s", dir, f.Error),
			fmt.Sprintf("The %s %s cannot be opened by this user.", what, quote(dir)), "Check its permissions, or choose another folder.")
	default:
		return failDir(fmt.Sprintf("%s is not a folder.", quote(dir)), "Choose the folder it lies in.")
	}
	if s.same(dir, host.Home) || s.same(f.Target, host.resolved(host.Home)) {
		return failDir(fmt.Sprintf("The %s %s is your home directory. An agent there could read your keys and change what your shell runs.", what, quote(dir)),
			"Choose a project folder inside it, or make one.")
	}
	if own {
		return nil
	}
	v := host.checkSource(dir)
	if v.refuse == "" && (s.within(dir, host.LoopHome) || s.within(f.Target, host.resolved(host.LoopHome))) {
		v.refuse = "it contains Loop's own folder " + quote(host.LoopHome)
	}
	if v.refuse == "" && v.credential {
		v.refuse = "credentials are kept there"
	}
	if v.refuse == "" && v.forceRO {
		v.refuse = "it belongs to the operating system"
	}
	if v.refuse == "" {
		v.refuse = checkTarget(ContainerPath(host.OS, dir), ContainerPath(host.OS, host.Home))
	}
	if v.refuse != "" {
		return failDir(fmt.Sprintf("The %s %s cannot be given to an agent: %s.", what, quote(dir), v.refuse), other)
	}
	return nil
}

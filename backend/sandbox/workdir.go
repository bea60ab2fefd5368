package sandbox

import (
	"cmp"
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
	dir, err := plainDir(cmp.Or(sub.Channel.Dir, stateDir(s, host.LoopHome, sub.Channel.ID, "work")), s)
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
	other, named := "Choose a project folder instead.", what+" "+quote(dir)
	if s.isRoot(dir) || s.isRoot(host.resolved(dir)) {
		return failDir("The "+named+" is the whole file system, which an agent must not be given.", other)
	}
	f := host.fact(dir)
	switch f.Kind {
	case PathDir:
	case PathMissing:
		return failDir("The "+named+" does not exist any more.", "Put it back, or choose another folder for the channel.")
	case PathDenied:
		return core.Fail(core.CodeDir, fmt.Errorf("look at %s: %s", dir, f.Error),
			"The "+named+" cannot be opened by this user.", "Check its permissions, or choose another folder.")
	default:
		return failDir(quote(dir)+" is not a folder.", "Choose the folder it lies in.")
	}
	if s.same(dir, host.Home) || s.same(f.Target, host.resolved(host.Home)) {
		return failDir("The "+named+" is your home directory. An agent there could read your keys and change what your shell runs.",
			"Choose a project folder inside it, or make one.")
	}
	if own {
		return nil
	}
	v := host.checkSource(dir)
	ours := s.within(dir, host.LoopHome) || s.within(f.Target, host.resolved(host.LoopHome))
	refuse := cmp.Or(v.refuse, when(ours, "it contains Loop's own folder "+quote(host.LoopHome)),
		when(v.credential, "credentials are kept there"), when(v.forceRO, "it belongs to the operating system"),
		checkTarget(ContainerPath(host.OS, dir), ContainerPath(host.OS, host.Home)))
	if refuse != "" {
		return failDir("The "+named+" cannot be given to an agent: "+refuse+".", other)
	}
	return nil
}

// FitForWork judges a directory that is about to become a channel's as Resolve
// would when the channel has a run: nil, or the failure the run would end with.
func FitForWork(dir string, host Host) error {
	dir, err := plainDir(dir, host.style())
	if err != nil {
		return err
	}
	return checkProjectDir("folder", dir, false, host)
}

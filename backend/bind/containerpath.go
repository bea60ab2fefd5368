package bind

import "loop/backend/core"

// ContainerPath returns the path at which a shell in the channel's container sees a
// file of this computer, quoted if the shell needs it. Paths are compared as they are
// written; no link is followed.
func (t *Terminals) ContainerPath(channelID, hostPath string) (string, error) {
	mounts, err := t.Shared.Mounts(t.Ctx, core.ChannelID(channelID))
	if err != nil {
		return "", err
	}
	at, err := core.NewMountTable(mounts, t.OS).Inside(hostPath)
	if err != nil {
		return "", err
	}
	return core.ShellQuote(at), nil
}

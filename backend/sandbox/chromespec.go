package sandbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"loop/backend/core"
	"loop/backend/wire"
)

// ProfileDir is where a browser keeps its profile, and its home.
const ProfileDir = "/profile"

// ChromeID is the uid and gid of the user that the browser image has for Chromium. It is
// nobody on the host: systemd's list of ids has 65520 to 65533 as unused, and a user with this
// one could read Chromium's memory on an engine without user namespaces.
const ChromeID = 65525

// chromePids is what some thirty pages take: Chromium has ten processes and a hundred
// threads with one page, and five threads more with each.
const chromePids = 1024

var chromeName = regexp.MustCompile(`^loop-chrome-[a-z0-9-]{1,40}-[0-9a-f]{6}$`)

// BrowserSettings are those of a channel's browser.
type BrowserSettings struct {
	MemoryMB Setting[int]
	CPUs     Setting[float64] // while nobody watches
	Seccomp  string           // the filter that Chromium's sandbox works under; empty is the engine's own
}

// browserKey tells browsers of several Loop folders on one engine apart, and channels
// whose ids differ in case alone.
func browserKey(ch core.ChannelID, install string) string {
	sum := sha256.Sum256([]byte(install + "/" + string(ch)))
	return cmp.Or(NameBase(string(ch)), "channel") + "-" + hex.EncodeToString(sum[:3])
}

// ProfileVolume is the volume with the profile of a channel's browser.
func ProfileVolume(ch core.ChannelID, install string) string {
	return "loop-chrome-profile-" + browserKey(ch, install)
}

// ResolveBrowser makes the complete spec of the container in which a channel's browser
// runs. It shows nothing of the channel's or the person's files, and has no network.
// Errors are *core.Failure.
func ResolveBrowser(b BrowserSettings, sub Subject, host Host) (core.Spec, core.Explanation, error) {
	ex := &explainer{}
	host, err := normalHost(host)
	if err == nil {
		err = checkSubject(sub)
	}
	if err != nil {
		return core.Spec{}, ex.out, err
	}
	limits := resolveLimits(Settings{MemoryMB: b.MemoryMB, CPUs: b.CPUs, Pids: Setting[int64]{chromePids, fromBuiltin}}, host, ex)
	agent := core.AgentUser{Name: "chrome", UID: ChromeID, GID: ChromeID, Home: ProfileDir}
	spec := core.Spec{
		Name: "loop-chrome-" + browserKey(sub.Channel.ID, sub.InstallID), Type: core.TypeChrome, ChannelID: sub.Channel.ID,
		Image: sub.Image, Entrypoint: []string{GuestBin, "init"},
		Mounts: []core.Mount{
			{Kind: core.MountSystem, Source: sub.GuestVolume, Target: GuestDir, ReadOnly: true, Volume: true, NoCopy: true},
			{Kind: core.MountVolume, Source: ProfileVolume(sub.Channel.ID, sub.InstallID), Target: ProfileDir, Volume: true},
		},
		Tmpfs: tmpfsFor(limits.MemoryBytes), WorkDir: ProfileDir, User: "0:0", Agent: agent,
		Limits: limits, ShmBytes: max(limits.MemoryBytes/4, chromeShm),
		CapDrop: slices.Clone(capDrop), CapAdd: slices.Clone(capAdd), NoNewPrivileges: true, ReadOnlyRoot: true, Seccomp: b.Seccomp,
		Network: "none", StopGraceSec: stopGraceSec,
	}
	chown := []string{ProfileDir}
	for _, v := range appEnv(host, agent, chown) {
		// A page that breaks out of Chromium finds nothing here of the person or the agent.
		if v.Name != "HOST_USER" && v.Name != "CLAUDE_CONFIG_DIR" && v.Name != "API_URL" {
			spec.Env = append(spec.Env, v)
			ex.set("env["+v.Name+"]", v.Value, fromBuiltin)
		}
	}
	// A Chromium whose Loop was killed has nobody left to drive it, and Loop may never start
	// again.
	spec.Env = append(spec.Env, core.EnvVar{Name: wire.EndUnlinked, Value: "1", Lane: LaneApp})
	ex.set("env["+wire.EndUnlinked+"]", "1", fromBuiltin)
	slices.SortFunc(spec.Env, func(a, b core.EnvVar) int { return strings.Compare(a.Name, b.Name) })
	markPlaces(&spec, ex)
	spec.Hash = Hash(spec, sub.ImageID, strings.TrimPrefix(sub.GuestVolume, GuestVolumePrefix), "")
	spec.Fixed = fixed(spec)
	spec.Labels = labels(spec, sub)
	ex.set("name", spec.Name, fromBuiltin)
	ex.set("type", string(spec.Type), fromBuiltin)
	ex.set("image", spec.Image, fromBuiltin)
	ex.set("network", spec.Network, fromBuiltin)
	ex.set("shm_bytes", fmt.Sprint(spec.ShmBytes), b.MemoryMB.From)
	if spec.Seccomp == "" {
		ex.notice("The engine takes no filter of system calls from Loop: Chromium may have to do without its own sandbox.")
	}
	return spec, ex.out, nil
}

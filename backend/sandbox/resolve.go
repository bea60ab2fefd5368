package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

// explainer collects origins while the spec is made.
type explainer struct{ out core.Explanation }

func (e *explainer) set(field, value string, from core.SettingsOrigin) {
	o := core.FieldOrigin{Field: field, Value: value, Layer: from.Layer, Path: from.Path, Line: from.Line, Overrode: from.Overrode}
	e.out.Origins = append(e.out.Origins, o)
}

func (e *explainer) notice(text string) { e.out.Notices = append(e.out.Notices, text) }

// Resolve makes the complete spec of one container from merged settings. The same
// arguments give the same result, as far as host.Look does.
// Validate is for whoever makes the container. Errors are *core.Failure.
func Resolve(settings Settings, sub Subject, host Host) (core.Spec, core.Explanation, error) {
	ex := &explainer{}
	spec, err := resolve(settings, sub, host, ex)
	return spec, ex.out, err
}

func resolve(m Settings, sub Subject, host Host, ex *explainer) (core.Spec, error) {
	var spec core.Spec
	host, err := normalHost(host)
	if err != nil {
		return spec, err
	}
	if err := checkSubject(sub); err != nil {
		return spec, err
	}
	if err := checkNetwork(m.Network, sub.ModelOnRelay); err != nil {
		return spec, err
	}
	w, err := resolveWorkDir(sub, host)
	if err != nil {
		return spec, err
	}
	limits := resolveLimits(m, host, ex)
	base := NameBase(host.style().base(w.dir))
	if w.isDefault {
		base = NameBase(string(sub.Channel.ID))
	}
	sc := scopeOf(m, sub, base)
	p, err := planMounts(m, sub, sc, host, w, ex)
	if err != nil {
		return spec, err
	}
	if sub.Plan { // not before: the plan of the mounts goes by what other runs may write
		m.Access = Setting[string]{AccessRO, fromRun}
	}
	agent, err := agentUserOf(m, host, p.home)
	if err != nil {
		return spec, err
	}
	if agent.UID == SupervisorID {
		return spec, core.Fail(core.CodeInvalid, nil,
			fmt.Sprintf("This user has uid %d, which Loop keeps for its supervisor inside containers.", SupervisorID),
			"Run Loop as another user.")
	}

	nameDir := w.dir
	if w.isDefault {
		nameDir = ""
	}
	name := containerName(host.style(), nameDir, sub.Channel.ID, sub.NameSuffix)
	if sc.key != "" {
		sub.RunID, name = "", scopeName(m.Prefix.Value, sub.InstallID, sc)
		if sc.key != shellScope(sub.Channel.ID) {
			sub.Type = core.TypeAgent // whoever comes first
		}
	}
	spec = core.Spec{
		Name:            name,
		Type:            sub.Type,
		ChannelID:       sc.owner,
		RunID:           sub.RunID,
		Plan:            sub.Plan,
		Scope:           sc.key,
		Dirs:            p.dirs,
		Image:           sub.Image,
		Entrypoint:      []string{GuestBin, "init"},
		Tmpfs:           p.moreTmpfs(m, tmpfs(limits, p)),
		WorkDir:         workTarget(m, host, w),
		Seed:            p.seed,
		User:            "0:0",
		Agent:           agent,
		Limits:          limits,
		ShmBytes:        typeRules[sub.Type].shm,
		CapDrop:         slices.Clone(capDrop),
		CapAdd:          slices.Clone(capAdd),
		NoNewPrivileges: true,
		ReadOnlyRoot:    !m.WritableRoot.Value,
		Seccomp:         m.Seccomp.Value,
		AppArmor:        m.AppArmor.Value,
		Ulimits:         m.Ulimits.Value,
		GPUs:            m.GPUs.Value,
		Network:         m.Network.Value,
		StopGraceSec:    stopGraceSec,
	}
	if sc.key != "" {
		spec.Life = core.Life{Idle: m.Idle.Value, Age: m.MaxAge.Value}
	}
	for _, pm := range p.mounts {
		spec.Mounts = append(spec.Mounts, pm.Mount)
	}
	spec.Copies = p.copies
	if sc.memory != sc.owner {
		spec.StateID = sc.memory
	}
	if spec.Network != "none" {
		spec.ExtraHosts = append(texts(m.ExtraHosts), hostGateway)
		spec.DNS = texts(m.DNS)
	}
	setup, err := setupOf(m, sub, sc, host)
	if err != nil {
		return core.Spec{}, err
	}
	if setup.Command != "" {
		setUp(&spec, setup)
		explainSetup(ex, setup, m)
	}
	if spec.Env, err = resolveEnv(m, sub, host, agent, p.chown, ex); err != nil {
		return core.Spec{}, err
	}
	if setup.Command != "" {
		markSetup(&spec, ex)
	}
	markPlaces(&spec, ex)
	if sc.key != "" {
		v := core.EnvVar{Name: wire.EndUnvisited, Value: strconv.Itoa(int(wire.MaxUnvisited / time.Second)), Lane: LaneApp}
		spec.Env = append(spec.Env, v)
		slices.SortFunc(spec.Env, func(a, b core.EnvVar) int { return strings.Compare(a.Name, b.Name) })
		ex.set("env["+v.Name+"]", v.Value, fromBuiltin)
	}
	spec.Hash = Hash(spec, sub.ImageID, strings.TrimPrefix(sub.GuestVolume, GuestVolumePrefix), m.Access.Value)
	spec.Fixed = fixed(spec)
	spec.Labels = labels(spec, sub)
	explainRest(ex, spec, m, w)
	ex.out.AddDirs = p.addDirs
	return spec, nil
}

// normalHost checks the facts that everything else leans on.
func normalHost(host Host) (Host, error) {
	s := host.style()
	for _, d := range []struct{ what, path string }{{"home directory", host.Home}, {"Loop folder", host.LoopHome}} {
		err := plainText(d.path)
		if err != nil || !s.abs(d.path) || s.isRoot(s.clean(d.path)) || strings.Contains(ContainerPath(host.OS, d.path), ":") {
			return host, core.Fail(core.CodeInvalid, err, fmt.Sprintf("The %s %q cannot be used.", d.what, d.path),
				"Check the variables HOME and LOOP_HOME: each must be an absolute path, not the top of the file system, "+
					"without colons or control characters.")
		}
	}
	host.Home, host.LoopHome = s.clean(host.Home), s.clean(host.LoopHome)
	if host.EngineOS != "" && host.EngineOS != "linux" {
		return host, core.Fail(core.CodeInvalid, nil, "The container engine runs "+host.EngineOS+" containers; Loop's are Linux containers.",
			"Switch the engine to Linux containers.")
	}
	switch host.EngineArch {
	case "", "amd64", "arm64", "x86_64", "aarch64":
	default:
		return host, core.Fail(core.CodeInvalid, nil, "The container engine's processor type "+quote(host.EngineArch)+" is not supported.",
			"Use an engine on amd64 or arm64.")
	}
	return host, nil
}

func checkSubject(sub Subject) error {
	bad := func(what string) error {
		return core.Fail(core.CodeInternal, nil, "The container's "+what+" is missing or not valid.", "")
	}
	switch {
	case !channelPattern.MatchString(string(sub.Channel.StateOwner())):
		return bad("state")
	case !channelPattern.MatchString(string(sub.Channel.ID)):
		return core.Fail(core.CodeInvalid, nil, fmt.Sprintf("The channel id %q is not valid.", sub.Channel.ID),
			"Use letters, digits, “-” and “_”.")
	case sub.ImageID == "":
		return bad("image id")
	case !strings.HasPrefix(sub.GuestVolume, GuestVolumePrefix) || !volumeName.MatchString(sub.GuestVolume):
		return bad("guest volume")
	}
	if _, known := typeRules[sub.Type]; !known {
		return bad("type")
	}
	return nil
}

// tmpfs are the standing ones, less those that a mount replaces, and the covers.
func tmpfs(l core.Limits, p *plan) []core.Tmpfs {
	out := slices.DeleteFunc(tmpfsFor(l.MemoryBytes), func(t core.Tmpfs) bool { return p.taken(t.Target) != nil })
	for _, c := range p.covers {
		if !slices.ContainsFunc(out, func(t core.Tmpfs) bool { return t.Target == c.Target }) {
			out = append(out, c)
		}
	}
	return out
}

// labels stamp everything by which the container is found again.
func labels(spec core.Spec, sub Subject) map[string]string {
	l := map[string]string{
		core.LabelApp:     core.LabelAppName,
		core.LabelType:    string(spec.Type),
		core.LabelChannel: string(spec.ChannelID),
		core.LabelInstall: sub.InstallID,
		core.LabelScope:   cmp.Or(spec.Scope, ScopeRun),
		core.LabelHash:    spec.Hash,
		core.LabelSpec:    core.SpecVersion,
	}
	if spec.RunID != "" {
		l[core.LabelRun] = string(spec.RunID)
	}
	return l
}

// hostGateway is how programs in a container find this computer.
const hostGateway = "host.docker.internal:host-gateway"

func texts(list []Setting[string]) (out []string) {
	for _, s := range list {
		out = append(out, s.Value)
	}
	return out
}

// last is the origin of a list's last entry.
func last(list []Setting[string]) core.SettingsOrigin {
	if len(list) == 0 {
		return fromBuiltin
	}
	return list[len(list)-1].From
}

func explainRest(ex *explainer, spec core.Spec, m Settings, w work) {
	workFrom := fromChannel
	if w.isDefault {
		workFrom = fromBuiltin
	}
	preset := "job"
	if spec.Scope != "" {
		preset = "exec"
	}
	ex.set("preset", preset, m.Scope.From)
	if m.Agent != "" {
		ex.set("agent_id", m.Agent, fromChannel)
	}
	ex.set("scope", cmp.Or(spec.Scope, ScopeRun), m.Scope.From)
	if spec.Scope != "" {
		ex.set("life.idle", lasting(spec.Life.Idle), m.Idle.From)
		ex.set("life.age", lasting(spec.Life.Age), m.MaxAge.From)
	}
	ex.set("layout", cmp.Or(m.Layout.Value, LayoutMirror), cmp.Or(m.Layout.From, fromBuiltin))
	if spec.Seed.Copy != "" {
		ex.set("copy", spec.Seed.Copy, m.Access.From)
	}
	ex.set("access", m.Access.Value, m.Access.From)
	if spec.Plan {
		ex.set("plan", "true", fromRun)
	}
	ex.set("name", spec.Name, workFrom)
	ex.set("type", string(spec.Type), fromRun)
	ex.set("channel_id", string(spec.ChannelID), fromChannel)
	if spec.RunID != "" {
		ex.set("run_id", string(spec.RunID), fromRun)
	}
	ex.set("image", spec.Image, m.Image.From)
	ex.set("entrypoint", strings.Join(spec.Entrypoint, " "), fromBuiltin)
	ex.set("labels", fmt.Sprint(len(spec.Labels)), fromBuiltin)
	ex.set("work_dir", spec.WorkDir, workFrom)
	ex.set("user", spec.User, fromBuiltin)
	agentFrom := fromHost
	if m.User.Value != "" {
		agentFrom = m.User.From
	}
	ex.set("agent", fmt.Sprintf("%s (%d:%d)", spec.Agent.Name, spec.Agent.UID, spec.Agent.GID), agentFrom)
	ex.set("cap_drop", strings.Join(spec.CapDrop, ","), fromBuiltin)
	ex.set("cap_add", strings.Join(spec.CapAdd, ","), fromBuiltin)
	ex.set("no_new_privileges", fmt.Sprint(spec.NoNewPrivileges), fromBuiltin)
	writableFrom := m.WritableRoot.From
	if spec.Setup.Command != "" {
		writableFrom = cmp.Or(writableFrom, m.Setup.From)
	}
	ex.set("read_only_root", fmt.Sprint(spec.ReadOnlyRoot), cmp.Or(writableFrom, fromBuiltin))
	ex.set("network", spec.Network, m.Network.From)
	if len(spec.ExtraHosts) > 0 {
		ex.set("extra_hosts", strings.Join(spec.ExtraHosts, ","), last(m.ExtraHosts))
	}
	if len(spec.DNS) > 0 {
		ex.set("dns", strings.Join(spec.DNS, ","), last(m.DNS))
	}
	for _, u := range spec.Ulimits {
		ex.set("ulimits["+u.Name+"]", fmt.Sprintf("%d:%d", u.Soft, u.Hard), m.Ulimits.From)
	}
	if spec.GPUs {
		ex.set("gpus", "all", m.GPUs.From)
	}
	if spec.Seccomp != "" {
		ex.set("seccomp", fmt.Sprintf("a profile of %d bytes", len(spec.Seccomp)), m.Seccomp.From)
	}
	if spec.AppArmor != "" {
		ex.set("apparmor", spec.AppArmor, m.AppArmor.From)
	}
	if spec.ShmBytes > 0 {
		ex.set("shm_bytes", fmt.Sprint(spec.ShmBytes), fromBuiltin)
	}
	ex.set("stop_grace_sec", fmt.Sprint(spec.StopGraceSec), fromBuiltin)
	for _, t := range spec.Tmpfs {
		if slices.ContainsFunc(ex.out.Origins, func(o core.FieldOrigin) bool { return o.Field == "tmpfs["+t.Target+"]" }) {
			continue
		}
		ex.set("tmpfs["+t.Target+"]", t.Options, fromBuiltin)
	}
	ex.set("hash", spec.Hash, fromBuiltin)
	ex.set("fixed", spec.Fixed, fromBuiltin)
	slices.SortStableFunc(ex.out.Origins, func(a, b core.FieldOrigin) int { return strings.Compare(a.Field, b.Field) })
}

// lasting is a time of which 0 is for ever.
func lasting(d time.Duration) string {
	if d == 0 {
		return "for ever"
	}
	return d.String()
}

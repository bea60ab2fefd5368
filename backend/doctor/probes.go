package doctor

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"loop/backend/core"
	"loop/backend/keytrial"
)

// Parts are what the probes work on; daemon fills them from the running app.
type Parts struct {
	Engine func(context.Context) core.EngineStatus
	Image  func(context.Context) core.ImageStatus
	Build  func(context.Context) error          // the image
	Trial  func(context.Context) (Tried, error) // with a container as of a run (Container.Try)
	// GateTrial is what programs could do in a container (Container.TryGate).
	GateTrial func(context.Context) (GateTried, error)
	Gate      Gate
	Settings  Settings
	ReadCA    func(path string) ([]byte, error) // PEM; the error is why the image build would leave the file out
	Notices   Notices                           // nil: no window is open here
	Home      string
	Desktop   bool // this binary can open a window
	OS        string
	Getenv    func(string) string
}

// Notices are the desktop's notifications.
type Notices interface {
	Ready(ctx context.Context) error // why none would be shown, as a core.Failure
}

// Settings are the person's, as they are now.
type Settings interface {
	// Asking is how the model is asked about the key that a run would use; kind is empty
	// where there is none.
	Asking(ctx context.Context) (kind string, a keytrial.Asking)
	ExtraCA() []string // files
	// Problems are those of Loop's own file. usable says that it was read whole at least
	// once, so that there is a reading to go on with.
	Problems() (list []core.SettingsProblem, usable bool)
}

// Tried is what starting a container and its link took.
type Tried struct {
	Started   time.Duration // create, start, hello
	RoundTrip time.Duration
}

// minFree is what an image build and a few runs need; below it builds fail in
// ways that do not name the disk.
const minFree = 5 << 30

// Probes are the checks of “loop doctor”, in the order shown.
func Probes(p Parts) []Probe {
	return []Probe{
		{ID: "config", Title: "Configuration", Limit: 5 * time.Second, Do: p.config},
		{ID: "disk", Title: "Disk", Limit: 10 * time.Second, Do: p.disk, Fix: p.closeHome},
		{ID: "engine", Title: "Docker engine", Limit: 10 * time.Second, Do: p.engine},
		{ID: "image", Title: "Agent image", Limit: 10 * time.Second, Needs: "engine", Do: p.image, Fix: p.Build},
		{ID: "link", Title: "Container and link", Limit: 40 * time.Second, Needs: "image", Do: p.link},
		{ID: "ca", Title: "Certificates", Limit: 10 * time.Second, Do: p.certificates},
		{ID: "credentials", Title: "Model access", Limit: 15 * time.Second, Do: p.credentials},
		{ID: "display", Title: "Display", Limit: 5 * time.Second, Do: p.display},
		{ID: "notifications", Title: "Notifications", Limit: 20 * time.Second, Do: p.notifications},
		{ID: "gate", Title: "Gate", Limit: 60 * time.Second, Needs: "link", Do: p.gate},
	}
}

func (p Parts) config(context.Context) (Check, error) {
	list, usable := p.Settings.Problems()
	if len(list) == 0 {
		return Check{Summary: "Read without problems."}, nil
	}
	worst, all := list[0], make([]string, len(list))
	for i, c := range list {
		all[i] = c.String()
		if worst.Warning && !c.Warning {
			worst = c
		}
	}
	check := Check{State: Warn, Summary: worst.String(), Remedy: worst.Remedy}
	if len(all) > 1 {
		check.Detail = strings.Join(all, "\n")
	}
	switch {
	case worst.Warning:
	case usable:
		check.Remedy = "Correct the file; until then Loop uses the last good values."
	default:
		check.State = Fail
		check.Remedy = "Correct the file; nothing can be run until then."
	}
	return check, nil
}

func (p Parts) disk(context.Context) (Check, error) {
	f, err := os.CreateTemp(p.Home, "doctor-*")
	if err != nil {
		return Check{}, core.Fail(core.CodeDiskFull, err, fmt.Sprintf("Loop cannot write in %s.", p.Home),
			"Check who owns the folder and whether the disk is full.")
	}
	defer os.Remove(f.Name())
	defer f.Close()
	block := make([]byte, 1<<20)
	_, _ = rand.Read(block)
	if _, err = f.Write(block); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return Check{}, core.Fail(core.CodeDiskFull, err, fmt.Sprintf("Writing 1 MiB in %s did not work.", p.Home),
			"Free some space; old images are the usual reason.")
	}
	free, err := freeBytes(p.Home)
	if err != nil {
		return Check{State: Warn, Summary: "Wrote 1 MiB; how much space is left is not known.", Detail: err.Error()}, nil
	}
	c := Check{Summary: fmt.Sprintf("Wrote 1 MiB in %s; %.1f GB free.", p.Home, float64(free)/1e9)}
	if free < minFree {
		c.State, c.Remedy = Warn, "An image build needs about 5 GB: remove old images with “docker image prune”."
	}
	if p.open() {
		c.State, c.Fix = Warn, "Let nobody else look into the folder"
		c.Summary += " Others on this computer can look into the folder, which holds conversations and settings."
		c.Remedy = strings.TrimSpace(c.Remedy + fmt.Sprintf(" Close it: “chmod 700 %s”.", p.Home))
	}
	return c, nil
}

// open reports whether others may look into Loop's folder. Windows goes by its parent's.
func (p Parts) open() bool {
	info, err := os.Stat(p.Home)
	return err == nil && p.OS != "windows" && info.Mode().Perm()&0o077 != 0
}

func (p Parts) closeHome(context.Context) error {
	if !p.open() {
		return nil
	}
	if err := os.Chmod(p.Home, 0o700); err != nil {
		return core.Fail(core.CodeConfig, err, fmt.Sprintf("The folder %s could not be closed to others.", p.Home), "Look who owns it.")
	}
	return nil
}

func (p Parts) engine(ctx context.Context) (Check, error) {
	s := p.Engine(ctx)
	if s.Failure != nil {
		return Check{}, s.Failure
	}
	mode := "rootful"
	if s.Traits.Rootless {
		mode = "rootless"
	}
	if v := s.Traits.CgroupVersion; v != "" {
		mode += ", control groups v" + v
	}
	return Check{Summary: fmt.Sprintf("%s %s (API %s, %s), from %s at %s.", s.Name, s.Version, s.APIVersion, mode, s.Source, s.Host)}, nil
}

const buildIt = "Build the image, which takes some minutes"

func (p Parts) image(ctx context.Context) (Check, error) {
	s := p.Image(ctx)
	switch s.State {
	case core.ImageReady:
		if s.Theirs {
			return Check{Summary: s.Ref + ", which the settings name, is there.", Detail: s.Note}, nil
		}
		return Check{Summary: s.Ref + " is there and matches this version.", Detail: s.Note}, nil
	case core.ImageBuilding:
		return Check{State: Warn, Summary: "It is being built: " + s.Step}, nil
	case core.ImageStale:
		return Check{State: Warn, Fix: buildIt, Summary: s.Ref + " was made by another version of Loop.",
			Remedy: "Build it again: “loop image build”, or the button in the window. The next run does it by itself."}, nil
	case core.ImageMissing:
		if s.Theirs { // Loop can build nothing here
			remedy := s.Note
			if s.Failure != nil {
				remedy = s.Failure.Remedy
			}
			return Check{State: Fail, Summary: s.Ref + ", which the settings name, is not there.", Remedy: remedy}, nil
		}
		return Check{State: Fail, Fix: buildIt, Summary: s.Ref + " is not there.",
			Remedy: "Build it: “loop image build”, or the button in the window. The first run does it by itself."}, nil
	}
	if s.Failure != nil {
		return Check{}, s.Failure
	}
	return Check{State: Warn, Summary: "It is not known whether the image is there."}, nil
}

func (p Parts) link(ctx context.Context) (Check, error) {
	t, err := p.Trial(ctx)
	if err != nil {
		return Check{}, err
	}
	return Check{Summary: fmt.Sprintf("Started a container and had its hello after %v; one round trip takes %v. "+
		"The container is removed again.",
		t.Started.Round(time.Millisecond), t.RoundTrip.Round(10*time.Microsecond))}, nil
}

// certificates reads every configured CA file as the image build will.
func (p Parts) certificates(context.Context) (Check, error) {
	files := p.Settings.ExtraCA()
	if len(files) == 0 {
		return Check{Summary: "No extra CA files are configured; the system's are used."}, nil
	}
	for _, path := range files {
		if _, err := p.ReadCA(path); err != nil {
			return Check{}, core.Fail(core.CodeConfig, err, fmt.Sprintf("The CA file %s cannot be used.", path),
				"Give a file with “BEGIN CERTIFICATE” blocks in extra_ca_files in the configuration.")
		}
	}
	return Check{Summary: fmt.Sprintf("%d CA file(s) read; they go into every stage of the image.", len(files))}, nil
}

// credentials asks the API with the credential a run would use, or without one
// where the settings name a model of the person's own. It asks for the list of
// models, which costs nothing.
func (p Parts) credentials(ctx context.Context) (Check, error) {
	kind, asking := p.Settings.Asking(ctx)
	if kind == "" && asking.Base == "" {
		return Check{State: Warn, Summary: "No key yet. The demo channel works without one.",
			Remedy: "Paste an API key in the settings, or run “loop auth login”."}, nil
	}
	with, remedy := "the API key", "Paste a valid one in the settings."
	switch kind {
	case "":
		with, remedy = "a request without a key", "Paste one in the settings, or run “loop auth login”."
	case "claude_code_oauth_token":
		with = "the sign-in token"
	}
	got, err := keytrial.Try(ctx, asking)
	if err != nil {
		return Check{}, err
	}
	switch got.Outcome {
	case keytrial.Unreached:
		unreached := "A key is set, but " + got.Host + " could not be reached."
		if kind == "" {
			unreached = got.Host + ", which anthropic_base_url names, could not be reached."
		}
		return Check{State: Warn, Summary: unreached, Detail: got.Err.Error(), Remedy: "Check the network and the proxy settings."}, nil
	case keytrial.Accepted:
		return Check{Summary: got.Host + " accepted " + with + "."}, nil
	case keytrial.Refused:
		return Check{}, core.Fail(core.CodeCredentials, nil, fmt.Sprintf("%s refused %s (%d).", got.Host, with, got.Status), remedy)
	}
	// A redirect, an overloaded service, a server that is no model.
	return Check{State: Warn, Remedy: "Try a run. If it fails, check anthropic_base_url.",
		Summary: fmt.Sprintf("%s answered %d to the question for its models; whether it takes %s is not known.", got.Host, got.Status, with)}, nil
}

// display connects to the display server a window would use.
func (p Parts) display(ctx context.Context) (Check, error) {
	if p.OS != "linux" {
		return Check{Summary: "The system's own."}, nil
	}
	headless := Check{State: Warn, Remedy: "“loop serve” shows the same page in a browser."}
	var addr string
	switch wayland, x := p.Getenv("WAYLAND_DISPLAY"), p.Getenv("DISPLAY"); {
	case wayland != "":
		if addr = wayland; !filepath.IsAbs(addr) {
			addr = filepath.Join(p.Getenv("XDG_RUNTIME_DIR"), wayland)
		}
	case strings.HasPrefix(x, ":"):
		n, _, _ := strings.Cut(x[1:], ".")
		addr = "/tmp/.X11-unix/X" + n
	case x != "":
		headless.Summary = "The display " + x + " is on another machine; it was not tried."
		return headless, nil
	default:
		headless.Summary = "No display is set (DISPLAY, WAYLAND_DISPLAY)."
		return headless, nil
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", addr)
	if err != nil {
		headless.Summary, headless.Detail = "A display is set, but it does not answer.", err.Error()
		return headless, nil //nolint:nilerr // no display is a warning: the page works without
	}
	_ = conn.Close()
	if !p.Desktop {
		return Check{Summary: "A display answers. This binary has no window in it; loop-desktop has."}, nil
	}
	return Check{Summary: "A display answers at " + addr + "."}, nil
}

// notifications are no must: what waits is marked in the window.
func (p Parts) notifications(ctx context.Context) (Check, error) {
	if p.Notices == nil {
		return Check{Summary: "Only Loop's window shows them, and none is open here."}, nil
	}
	if err := p.Notices.Ready(ctx); err != nil {
		f := core.AsFailure(err)
		return Check{State: Warn, Summary: f.Cause, Remedy: f.Remedy, Detail: f.Detail}, nil
	}
	if runtime.GOOS == "windows" { // which does not say
		return Check{Summary: "Loop hands them to Windows; Settings → System → Notifications says whether it shows them."}, nil
	}
	return Check{Summary: "The system shows them."}, nil
}

//go:build claude

package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"loop/backend/core"
	"loop/backend/wire"
)

// hostBoxes run the real CLI as processes of this machine, in place of containers with
// loop init. Everything between the runner and the CLI is as in a container.
type hostBoxes struct {
	t    *testing.T
	bin  string
	dir  string // files of the spawns
	home string

	mu    sync.Mutex
	boxes map[core.ContainerID]bool // those that run
	runs  map[core.ContainerID]core.RunID
	procs map[core.SpawnID]*hostProc
	made  int
}

type hostProc struct {
	box  core.ContainerID
	cmd  *exec.Cmd
	out  string
	done chan struct{}
	exit core.ExitStatus
}

func newHostBoxes(t *testing.T) *hostBoxes {
	bin := os.Getenv("LOOP_CLAUDE_BIN")
	if bin == "" {
		var err error
		if bin, err = exec.LookPath("claude"); err != nil {
			t.Fatal("there is no claude: set LOOP_CLAUDE_BIN, or leave out the build tag claude")
		}
	}
	dir := filepath.Join(t.TempDir(), filepath.Base(wire.RunsDir))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return &hostBoxes{t: t, bin: bin, dir: dir, home: t.TempDir(), boxes: map[core.ContainerID]bool{}, runs: map[core.ContainerID]core.RunID{}, procs: map[core.SpawnID]*hostProc{}}
}

func (h *hostBoxes) Ensure(context.Context) error { return nil }

func (h *hostBoxes) Start(_ context.Context, spec core.Spec) (core.Container, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.made++
	id := core.ContainerID(fmt.Sprint("host", h.made))
	h.boxes[id], h.runs[id] = true, spec.RunID
	return core.Container{ID: id, RunID: spec.RunID, ChannelID: spec.ChannelID, Status: core.ContainerRunning, Type: core.TypeAgent}, nil
}

func (h *hostBoxes) Join(core.Spec, core.Holder) (core.Container, bool) {
	return core.Container{}, false // none is kept
}
func (h *hostBoxes) End(_ context.Context, id core.ContainerID, _ core.Holder) error {
	h.stop(id)
	return nil
}

func (h *hostBoxes) Release(_ context.Context, holder core.Holder, _ core.Ending) error {
	h.mu.Lock()
	var ids []core.ContainerID
	for id, run := range h.runs {
		if string(run) == holder.ID {
			ids = append(ids, id)
		}
	}
	h.mu.Unlock()
	for _, id := range ids {
		h.stop(id)
	}
	return nil
}

func (h *hostBoxes) Left(core.HolderKind) []string { return nil }

func (h *hostBoxes) stop(id core.ContainerID) {
	h.mu.Lock()
	var wait []*hostProc
	for _, p := range h.procs {
		if p.box == id {
			wait = append(wait, p)
		}
	}
	h.boxes[id] = false
	h.mu.Unlock()
	for _, p := range wait {
		p.kill()
	}
}

func (p *hostProc) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
}

func (h *hostBoxes) Facts(_ context.Context, id core.ContainerID) (core.ContainerFacts, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	running, known := h.boxes[id]
	if !known {
		return core.ContainerFacts{}, core.ErrNotFound
	}
	return core.ContainerFacts{ID: id, Running: running}, nil
}

func (h *hostBoxes) List() []core.Container { return nil }

func (h *hostBoxes) Open(_ context.Context, c core.Container) (core.Link, error) {
	return &hostLink{h: h, box: c.ID, done: make(chan struct{})}, nil
}

// hostLink implements what the runner uses of a link.
type hostLink struct {
	core.Link
	h    *hostBoxes
	box  core.ContainerID
	once sync.Once
	done chan struct{}
}

func (l *hostLink) Done() <-chan struct{} { return l.done }
func (l *hostLink) Close() error          { l.once.Do(func() { close(l.done) }); return nil }

func (l *hostLink) Spawn(_ context.Context, req core.SpawnRequest) (core.SpawnInfo, error) {
	own := filepath.Join(l.h.dir, string(req.ID))
	if err := os.Mkdir(own, 0o700); err != nil {
		return core.SpawnInfo{}, err
	}
	for _, f := range req.Files {
		if err := os.WriteFile(filepath.Join(own, f.Name), f.Data, 0o600); err != nil {
			return core.SpawnInfo{}, err
		}
	}
	args := make([]string, len(req.Argv))
	for i, a := range req.Argv {
		args[i] = strings.Replace(a, wire.RunsDir, l.h.dir, 1)
		if guest := os.Getenv("LOOP_GUEST_BIN"); guest != "" {
			args[i] = strings.ReplaceAll(args[i], wire.GuestBinary, guest)
		}
	}
	cmd := exec.Command(l.h.bin, args[1:]...)
	cmd.Dir = req.Dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + l.h.home}
	for _, e := range req.Env {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	if req.Policy != nil {
		cmd.Env = append(cmd.Env, wire.GatePolicyFile+"="+filepath.Join(l.h.gate(), string(req.ID)+".json"))
	}
	cmd.Stdin = strings.NewReader(string(req.Stdin))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := os.Create(filepath.Join(own, "stdout"))
	if err != nil {
		return core.SpawnInfo{}, err
	}
	defer out.Close()
	cmd.Stdout = out
	errs, err := os.Create(filepath.Join(own, "stderr"))
	if err != nil {
		return core.SpawnInfo{}, err
	}
	defer errs.Close()
	cmd.Stderr = errs
	if err := cmd.Start(); err != nil {
		return core.SpawnInfo{}, err
	}
	p := &hostProc{box: l.box, cmd: cmd, out: own, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = cmd.Wait()
		p.exit.Code = cmd.ProcessState.ExitCode()
		if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			p.exit.Code = 128 + int(ws.Signal())
		}
	}()
	l.h.mu.Lock()
	l.h.procs[req.ID] = p
	l.h.mu.Unlock()
	return core.SpawnInfo{ID: req.ID}, nil
}

// gate is where the supervisors of a container would keep their files.
func (h *hostBoxes) gate() string {
	return filepath.Join(filepath.Dir(h.dir), filepath.Base(wire.GateDir))
}

func (l *hostLink) proc(id core.SpawnID) (*hostProc, error) {
	select {
	case <-l.done:
		return nil, core.ErrLinkDown
	default:
	}
	l.h.mu.Lock()
	defer l.h.mu.Unlock()
	if p := l.h.procs[id]; p != nil {
		return p, nil
	}
	return nil, core.ErrNotFound
}

func (l *hostLink) Spawns(context.Context) (out []core.SpawnInfo, err error) {
	l.h.mu.Lock()
	defer l.h.mu.Unlock()
	for id, p := range l.h.procs {
		info := core.SpawnInfo{ID: id}
		if st, err := os.Stat(filepath.Join(p.out, "stderr")); err == nil {
			info.ErrEnd = st.Size()
		}
		out = append(out, info)
	}
	return out, nil
}

func (l *hostLink) Wait(ctx context.Context, id core.SpawnID) (core.ExitStatus, error) {
	p, err := l.proc(id)
	if err != nil {
		return core.ExitStatus{}, err
	}
	select {
	case <-p.done:
		return p.exit, nil
	case <-ctx.Done():
		return core.ExitStatus{}, ctx.Err()
	case <-l.done:
		return core.ExitStatus{}, core.ErrLinkDown
	}
}

func (l *hostLink) Kill(_ context.Context, id core.SpawnID) error {
	p, err := l.proc(id)
	if err == nil {
		p.kill()
	}
	return err
}

func (l *hostLink) Forget(_ context.Context, id core.SpawnID) error {
	l.h.mu.Lock()
	defer l.h.mu.Unlock()
	delete(l.h.procs, id)
	return nil
}

func (l *hostLink) Feed(context.Context, core.SpawnID, int) (io.WriteCloser, error) {
	return nil, core.ErrNotFound
}

func (l *hostLink) Dial(context.Context, uint16) (net.Conn, error)      { return nil, core.ErrNotFound }
func (l *hostLink) Ports(context.Context) ([]core.ListeningPort, error) { return nil, nil }

func (l *hostLink) Admit(core.SpawnID, core.Identity) {}

func (l *hostLink) Read(ctx context.Context, id core.SpawnID, stream string, offset int64) (io.ReadCloser, error) {
	p, err := l.proc(id)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(p.out, "std"+stream))
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &tail{f: f, ctx: ctx, p: p}, nil
}

// tail reads a file until the process that writes it has ended.
type tail struct {
	f   *os.File
	ctx context.Context
	p   *hostProc
}

func (t *tail) Read(b []byte) (int, error) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		ended := false
		select {
		case <-t.p.done:
			ended = true
		default:
		}
		if n, err := t.f.Read(b); n > 0 || err != io.EOF || ended {
			return n, err
		}
		select {
		case <-t.ctx.Done():
			return 0, t.ctx.Err()
		case <-tick.C:
		}
	}
}

func (t *tail) Close() error { return t.f.Close() }

// permissionServer is an MCP server over stdio with the one tool that the CLI needs. It
// answers as the guest's server does.
func permissionServer(in io.Reader, out io.Writer) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var req struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Version   string `json:"protocolVersion"`
				Arguments struct {
					Tool  string          `json:"tool_name"`
					Input json.RawMessage `json:"input"`
				} `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &req) != nil || len(req.ID) == 0 {
			continue
		}
		var result any = map[string]any{}
		switch req.Method {
		case "initialize":
			result = map[string]any{"protocolVersion": req.Params.Version, "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]string{"name": "loop", "version": "1"}}
		case "tools/list":
			result = map[string]any{"tools": []any{map[string]any{"name": "permission_prompt", "description": "Asks.", "inputSchema": map[string]string{"type": "object"}}}}
		case "tools/call":
			a := req.Params.Arguments
			answer := map[string]any{"behavior": "allow", "updatedInput": a.Input}
			if a.Tool == "AskUserQuestion" || a.Tool == "ExitPlanMode" {
				answer = map[string]any{"behavior": "deny", "interrupt": true, "message": "The question is with the person. Stop here; their answer will be your next message."}
			}
			text, _ := json.Marshal(answer)
			result = map[string]any{"content": []any{map[string]string{"type": "text", "text": string(text)}}}
		}
		b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": req.ID, "result": result})
		_, _ = out.Write(append(b, '\n'))
	}
}

// noSpools is for containers that leave nothing on this host.
type noSpools struct{}

func (noSpools) Open(context.Context, core.ChannelID, core.SpawnID, int64) (io.ReadCloser, error) {
	return nil, errors.New("no spools are kept")
}

func (noSpools) Exit(context.Context, core.ChannelID, core.SpawnID) (core.ExitStatus, bool) {
	return core.ExitStatus{}, false
}

func (noSpools) Drop(context.Context, core.ChannelID, core.SpawnID) error { return nil }

package programs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"loop/backend/atomicfile"
	"loop/backend/core"
	"loop/backend/terminal/shell"
	"loop/backend/wire"
)

// Marked is a request for a shell that marks its prompts, or for another
// program as it is. The files go into the spawn's own folder.
func Marked(req core.SpawnRequest, argv []string) core.SpawnRequest {
	argv, env, files := shell.Integrate(argv, path.Join(wire.RunsDir, string(req.ID)))
	req.Argv = argv
	req.Env = append(slices.Clip(req.Env), env...)
	req.Files = append(slices.Clip(req.Files), files...)
	return req
}

// marked prepares the person's own shell in the same way. The files are the
// same for every session, so they are kept under a name made of their content,
// and nobody has to clean up behind a shell.
func (h Host) marked(argv, env []string) ([]string, []string) {
	_, _, files := shell.Integrate(argv, "/")
	if len(files) == 0 {
		return argv, env
	}
	sum := sha256.New()
	for _, f := range files {
		fmt.Fprintf(sum, "%s %d\n%s", f.Name, len(f.Data), f.Data)
	}
	dir := filepath.Join(h.Home, "run", "shell-"+hex.EncodeToString(sum.Sum(nil)[:8]))
	if err := keepFiles(dir, files); err != nil {
		// Marks are a comfort; a full disk must not keep a person from a shell.
		h.Log.Warn("a host shell starts without marks", "err", err)
		return argv, env
	}
	argv, more, _ := shell.Integrate(argv, filepath.ToSlash(dir))
	for _, v := range more {
		env = append(env, v.Name+"="+v.Value)
	}
	return argv, env
}

// keepFiles makes dir hold files, each whole at any time.
func keepFiles(dir string, files []core.SpawnFile) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make folder of shell files: %w", err)
	}
	for _, f := range files {
		name := filepath.Join(dir, f.Name)
		if have, err := os.ReadFile(name); err == nil && bytes.Equal(have, f.Data) {
			continue
		}
		if err := atomicfile.Replace(name, f.Data); err != nil {
			return fmt.Errorf("write shell file: %w", err)
		}
	}
	return nil
}

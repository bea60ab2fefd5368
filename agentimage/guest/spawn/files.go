//go:build linux

package spawn

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"loop/backend/wire"
)

func writeWhole(path string, data []byte, mode os.FileMode) error {
	tmp := path + ".tmp"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return os.Rename(tmp, path)
}

func (p *proc) removeFiles() error {
	p.closeLogs()
	errs := []error{p.tab.removeRunDir(p.id), p.removePolicy()}
	if p.req.Spool {
		for _, suffix := range []string{wire.OutSuffix, wire.ErrSuffix, wire.ExitSuffix} {
			errs = append(errs, os.RemoveAll(p.tab.spoolPath(p.id, suffix))) // which need not be there
		}
	}
	return errors.Join(errs...)
}

func (p *proc) closeLogs() {
	for _, o := range p.outlets {
		_ = o.Log.Close()
	}
}

// spoolPath names a file of a spawn in the spool; ids are names (wire.ValidID).
func (tab *Table) spoolPath(id, suffix string) string {
	return filepath.Join(tab.cfg.SpoolDir, id+suffix)
}

// removeRunDir removes the spawn's private directory. The agent owns it and may
// have put anything in it, so it is removed below a pinned directory, links
// never followed.
func (tab *Table) removeRunDir(id string) error {
	root, err := os.OpenRoot(tab.cfg.RunsDir)
	if err != nil {
		return fmt.Errorf("open runs directory: %w", err)
	}
	defer func() { _ = root.Close() }()
	if err := root.RemoveAll(id); err != nil {
		return fmt.Errorf("remove private directory: %w", err)
	}
	return nil
}

package bind

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"loop/backend/core"
)

// FootageService keeps pictures of what runs did in their browsers; the pictures go over
// the routes of package api.
type FootageService interface {
	Frames(ctx context.Context, run core.RunID) ([]core.KeptFrame, error)
}

// RunExports makes files of runs. A run that cannot be exported is a Failure.
type RunExports interface {
	Export(ctx context.Context, run core.RunID) (core.RunExport, error)
}

// SaveDialog asks the person where to save a file of some name; empty means that the person
// closed the dialog. Only a window has one.
type SaveDialog interface {
	SaveFile(title, name string) (string, error)
}

// Footage is bound as window.go.bind.Footage.
type Footage struct {
	Ctx     context.Context `json:"-"`
	Service FootageService  `json:"-"`
	Exports RunExports      `json:"-"`
	Dialog  SaveDialog      `json:"-"` // nil headless
}

// Frames returns the frames of a run by time, those of acts with their tool calls.
func (f *Footage) Frames(runID string) ([]core.KeptFrame, error) {
	return listed(f.Service.Frames(f.Ctx, core.RunID(runID)))
}

// SaveExport asks the person for a place with the system's dialog, and writes the export of
// a run there. It returns the place; empty means the person closed the dialog.
func (f *Footage) SaveExport(runID string) (string, error) {
	if f.Dialog == nil {
		return "", core.Fail("no_native_dialog", nil, "This Loop has no window, so it cannot ask where to save.",
			"Export the run in the page that it serves.")
	}
	x, err := f.Exports.Export(f.Ctx, core.RunID(runID))
	if err != nil {
		return "", err
	}
	to, err := f.Dialog.SaveFile("Export the run", x.Name())
	if err != nil || to == "" {
		return "", err
	}
	if err := saveExport(f.Ctx, x, to); err != nil {
		if errors.As(err, new(*core.Failure)) {
			return "", err
		}
		if errors.Is(err, fs.ErrPermission) {
			return "", core.Fail(core.CodeDir, err, "The export could not be written to "+to+": you may not write there.",
				"Choose another folder.")
		}
		return "", core.Fail(core.CodeDir, err, "The export could not be written to "+to+".",
			"Check that the disk is not full, or choose another folder.")
	}
	return to, nil
}

// saveExport writes beside the file first: a failed export leaves what was there.
func saveExport(ctx context.Context, x core.RunExport, to string) error {
	tmp, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".*.part")
	if err != nil {
		return err
	}
	err = errors.Join(x.Write(ctx, tmp), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), to)
	}
	if err == nil {
		return nil
	}
	if gone := os.Remove(tmp.Name()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"loop/backend/core"
)

// explain turns SQLite's error about the file into a Failure that names the file;
// everything else passes unchanged.
func (s *Store) explain(err error) error {
	_, explained := errors.AsType[*core.Failure](err)
	if explained || errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrConflict) {
		return err
	}
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: %w", core.ErrNotFound, err)
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if t, ok := troubles[e.Code()&0xff]; ok {
		return t.at(s.path, err)
	}
	if e.Code()&0xff == sqlite3.SQLITE_CONSTRAINT {
		return fmt.Errorf("%w: %w", core.ErrConflict, err)
	}
	return err
}

// fileFailure explains an error from making or opening the file itself.
func fileFailure(path string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return diskFull.at(path, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return readOnly.at(path, err)
	}
	return cannotOpen.at(path, err)
}

// trouble is a fault of the file. Its cause has a place for the path.
type trouble struct {
	code          core.Code
	cause, remedy string
}

func (t trouble) at(path string, err error) error {
	return core.Fail(t.code, err, fmt.Sprintf(t.cause, path), t.remedy)
}

var (
	damaged = trouble{core.CodeDatabase, "The database %s is damaged or is not a database.",
		"Move the file away and start Loop again; it makes a new one. Keep the old file if you want its history looked at."}
	diskFull = trouble{core.CodeDiskFull, "The disk that holds the database %s is full.", "Free some space, then try again."}
	readOnly = trouble{core.CodeDatabase, "Loop may not write its database %s.",
		"Make the file and its folder writable for your user, or set LOOP_HOME to another folder."}
	cannotOpen = trouble{core.CodeDatabase, "The database %s cannot be opened.",
		"Check that the path is a file in a folder you may write to, or set LOOP_HOME to another folder."}
	ioError = trouble{core.CodeDatabase, "Reading or writing the database %s was refused by the system.",
		"Check that the disk has free space and is healthy, then start Loop again."}
	busy = trouble{core.CodeDatabase, "Another program holds the database %s.",
		"Close the program that has the file open, then try again."}
)

// troubles are found by SQLite's primary result code.
var troubles = map[int]trouble{
	sqlite3.SQLITE_CORRUPT: damaged, sqlite3.SQLITE_NOTADB: damaged, sqlite3.SQLITE_FULL: diskFull, sqlite3.SQLITE_READONLY: readOnly,
	sqlite3.SQLITE_PERM: readOnly, sqlite3.SQLITE_CANTOPEN: cannotOpen, sqlite3.SQLITE_IOERR: ioError, sqlite3.SQLITE_BUSY: busy,
	sqlite3.SQLITE_LOCKED: busy,
}

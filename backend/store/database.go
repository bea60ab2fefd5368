package store

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"loop/backend/core"
	"loop/backend/store/internal/rows"
	"loop/backend/store/internal/said"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// readers is the size of the reading pool: measured, a write connection and
// four readers do a mixed load of eight goroutines best.
const readers = 4

// The generated queries are two packages; an alias tells them apart in queries.
type (
	rowQueries  = rows.Queries
	saidQueries = said.Queries
)

// queries are the prepared statements of a connection, or of one transaction on it.
type queries struct {
	*rowQueries
	*saidQueries
}

func prepare(ctx context.Context, db *sql.DB) (q queries, err error) {
	if q.rowQueries, err = rows.Prepare(ctx, db); err == nil {
		q.saidQueries, err = said.Prepare(ctx, db)
	}
	if err != nil {
		return q, fmt.Errorf("prepare statements: %w", err)
	}
	return q, nil
}

func (q queries) within(tx *sql.Tx) queries {
	return queries{q.rowQueries.WithTx(tx), q.saidQueries.WithTx(tx)}
}

func (q queries) close() (err error) {
	if q.rowQueries != nil {
		err = q.rowQueries.Close()
	}
	if q.saidQueries != nil {
		err = errors.Join(err, q.saidQueries.Close())
	}
	return err
}

// Options of Open.
type Options struct {
	// Now stamps what the store itself dates; nil is time.Now.
	Now func() time.Time

	driver string // of database/sql; empty is SQLite itself, tests put one in front
}

// Store is an open database.
type Store struct {
	path    string
	now     func() time.Time
	install string

	writer *sql.DB // one connection: SQLite has one writer, and waiting in Go is fair
	reader *sql.DB
	write  queries
	read   queries
}

// Open opens or creates the database at path (mode 0600, its directory 0700
// when it has to be made) and brings its schema up to date. A database written
// by a newer Loop is refused and left as it is. The caller closes the Store.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fileFailure(path, fmt.Errorf("resolve path: %w", err))
	}
	if err := createPrivate(path); err != nil {
		return nil, fileFailure(path, err)
	}
	s := &Store{path: path, now: o.Now}
	if err := s.open(ctx, cmp.Or(o.driver, "sqlite")); err != nil {
		err = s.explain(fmt.Errorf("open database: %w", err))
		if _, ok := errors.AsType[*core.Failure](err); !ok && s.looksDamaged(ctx) {
			err = damaged.at(path, err)
		}
		_ = s.closeAll() // why it could not be opened says more
		return nil, err
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, driver string) (err error) {
	if s.writer, err = sql.Open(driver, dsn(s.path, "_txlock=immediate")); err != nil {
		return err
	}
	s.writer.SetMaxOpenConns(1)
	if err := s.migrate(ctx); err != nil {
		return err
	}
	if s.reader, err = sql.Open(driver, dsn(s.path, "_pragma=query_only(1)")); err != nil {
		return err
	}
	s.reader.SetMaxOpenConns(readers)
	s.reader.SetMaxIdleConns(readers)
	if s.write, err = prepare(ctx, s.writer); err != nil {
		return err
	}
	if s.read, err = prepare(ctx, s.reader); err != nil {
		return err
	}
	if err := s.write.InsertMetaIfAbsent(ctx, rows.InsertMetaIfAbsentParams{Key: "install_id", Value: core.NewID()}); err != nil {
		return fmt.Errorf("write install id: %w", err)
	}
	if s.install, err = s.read.GetMeta(ctx, "install_id"); err != nil {
		return fmt.Errorf("read install id: %w", err)
	}
	return nil
}

// migrate brings the schema up to date, unless it is newer than this program.
func (s *Store) migrate(ctx context.Context) error {
	sub, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, s.writer, sub)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	have, want, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	if have > want {
		return core.Fail(core.CodeDatabase, fmt.Errorf("schema %d, this program knows %d", have, want),
			fmt.Sprintf("The database %s was written by a newer version of Loop.", s.path),
			"Start that newer version, or set LOOP_HOME to another folder.")
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate schema: %w", err)
	}
	return nil
}

// looksDamaged is for errors that do not say why: damage in the version table comes
// as an ordinary SQL error.
func (s *Store) looksDamaged(ctx context.Context) bool {
	if s.writer == nil {
		return false
	}
	var word string
	return s.writer.QueryRowContext(ctx, "pragma quick_check(1)").Scan(&word) != nil || word != "ok"
}

// Close closes the database. Calls under way finish first or fail.
func (s *Store) Close() error {
	if err := s.closeAll(); err != nil {
		return fmt.Errorf("close database: %w", err)
	}
	return nil
}

func (s *Store) closeAll() error {
	var errs []error
	for _, q := range []queries{s.read, s.write} {
		errs = append(errs, q.close())
	}
	for _, db := range []*sql.DB{s.reader, s.writer} { // the writer last: it checkpoints
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// InstallID names this Loop folder; it is made with the database and never changes.
func (s *Store) InstallID() string { return s.install }

// createPrivate makes the file before SQLite does, so that no umask decides its
// mode; SQLite gives -wal and -shm the mode of the main file.
func createPrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return fmt.Errorf("create file: %w", err)
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Chmod(name, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("set file mode: %w", err)
		}
	}
	return nil
}

// dsn builds the file: URI. As a URI any character may be in the path.
func dsn(path, extra string) string {
	p := filepath.ToSlash(path)
	if p != "" && p[0] != '/' {
		p = "/" + p // C:/x becomes /C:/x, as SQLite wants it
	}
	u := url.URL{Scheme: "file", Path: p}
	return u.String() + "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)" +
		"&_pragma=synchronous(NORMAL)&_pragma=foreign_keys(1)&" + extra
}

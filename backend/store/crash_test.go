package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"loop/backend/core"
	"loop/backend/soaktest"
)

// opened is a store whose clock and faults the test controls.
type opened struct {
	*Store
	f   *faults
	now time.Time
}

func openFaulty(t *testing.T, path string, f *faults) *opened {
	t.Helper()
	faulty.byPath.Store(path, f)
	o := &opened{f: f}
	var err error
	if o.Store, err = Open(context.Background(), path, Options{Now: func() time.Time { return o.now }, driver: "sqlite with faults"}); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *opened) close(t *testing.T) {
	t.Helper()
	faulty.byPath.Delete(o.path)
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}

func (o *opened) do(st step) error {
	o.now = epoch.Add(st.at)
	return st.do(context.Background(), o.Store)
}

// goOn runs the steps from first to the end and compares the result with the expected
// one.
func (o *opened) goOn(t *testing.T, steps []step, dumps []string, first int) {
	t.Helper()
	for _, st := range steps[first:] {
		if err := o.do(st); err != nil {
			t.Fatalf("%s, afterwards: %v", st.name, err)
		}
	}
	if got := o.dump(t); got != dumps[len(steps)] {
		t.Fatalf("another end:\n%s\nwant\n%s", got, dumps[len(steps)])
	}
}

// dump describes everything in the database except its name.
func (o *opened) dump(t *testing.T) string {
	t.Helper()
	return dump(t, o.reader)
}

func dump(t *testing.T, db *sql.DB) string {
	t.Helper()
	var b strings.Builder
	for _, table := range []string{"channels", "runs", "events", "questions", "containers", "browser_frames"} {
		dumpTable(t, db, table, &b)
	}
	return b.String()
}

func dumpTable(t *testing.T, db *sql.DB, table string, b *strings.Builder) {
	t.Helper()
	list, err := db.Query("select * from " + table + " order by 1")
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	cols, err := list.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for list.Next() {
		row := make([]any, len(cols))
		for i := range row {
			row[i] = new(any)
		}
		if err := list.Scan(row...); err != nil {
			t.Fatal(err)
		}
		b.WriteString(table)
		for i, v := range row {
			fmt.Fprintf(b, " %s=%v", cols[i], *v.(*any))
		}
		b.WriteByte('\n')
	}
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
}

// copyDatabase copies what a killed process leaves: the file and its log as they are
// now.
func copyDatabase(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"", "-wal", "-shm"} {
		raw, err := os.ReadFile(from + end)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+end, raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// killed is a copy of the database from one moment of one step.
type killed struct {
	path, site    string
	step, n       int
	after, commit bool
}

// TestACrashAtEveryCall: every writing call consists of begins, statements and commits.
// At each of these, before and after it took effect, Loop is killed (a copy of the
// files is opened) or the call fails. The step is then there as a whole or not at all.
// The rest of the story ends the same: nothing is lost and nothing done twice. That is
// tried after one in ten crashes, or after all of them when long tests run in full.
func TestACrashAtEveryCall(t *testing.T) {
	steps := story()
	dir := t.TempDir()
	sites := map[string]int{}
	var copies []killed
	dumps := make([]string, len(steps)+1)
	calls := make([]int, len(steps))
	commits := make([]int, len(steps)) // number of the call that is the commit; 0: none
	before := make([]string, len(steps))

	f := &faults{}
	whole := openFaulty(t, filepath.Join(dir, "whole", "loop.db"), f)
	dumps[0] = whole.dump(t)
	for i, st := range steps {
		before[i] = filepath.Join(dir, fmt.Sprint("before", i), "loop.db")
		copyDatabase(t, whole.path, before[i])
		f.look = func(n int, after, commit bool, site string) {
			sites[site]++
			if commit {
				commits[i] = n
			}
			if !after && n > 1 {
				return // the same moment as after the call before
			}
			k := killed{filepath.Join(dir, fmt.Sprint("killed", len(copies)), "loop.db"), site, i, n, after, commit}
			copyDatabase(t, whole.path, k.path)
			copies = append(copies, k)
		}
		f.arm(0, false)
		if err := whole.do(st); err != nil {
			t.Fatalf("%s: %v", st.name, err)
		}
		calls[i], _ = f.disarm()
		dumps[i+1] = whole.dump(t)
	}
	whole.close(t)

	stories := 0
	for _, k := range copies {
		raw, err := sql.Open("sqlite", dsn(k.path, ""))
		if err != nil {
			t.Fatal(err)
		}
		next, got := k.step, dump(t, raw)
		if err := raw.Close(); err != nil {
			t.Fatal(err)
		}
		if k.after && k.commit {
			next++
		}
		if got != dumps[next] {
			t.Fatalf("killed in %s, call %d at %s, after %v: neither there nor not there:\n%s", steps[k.step].name, k.n, k.site, k.after, got)
		}
		if !k.commit {
			continue // the state is that before the step, from which the story itself goes on
		}
		if stories++; soaktest.Skips(stories - 1) {
			continue // the rest of the story takes minutes for all copies
		}
		o := openFaulty(t, k.path, &faults{})
		if next > k.step && steps[k.step].twice {
			_ = o.do(steps[k.step]) // an error is allowed, a second effect is not
			if got := o.dump(t); got != dumps[next] {
				t.Fatalf("%s was done twice:\n%s\nwant\n%s", steps[k.step].name, got, dumps[next])
			}
		}
		o.goOn(t, steps, dumps, next)
		o.close(t)
		if err := os.RemoveAll(filepath.Dir(k.path)); err != nil {
			t.Fatal(err)
		}
	}

	points := 0
	for i, st := range steps {
		o := openFaulty(t, before[i], &faults{})
		next := i
		for n := 1; n <= calls[i]; n++ {
			for _, after := range []bool{false, true} {
				points++
				o.f.arm(n, after)
				err := o.do(st)
				if _, hit := o.f.disarm(); !hit {
					t.Fatalf("%s: call %d did not come", st.name, n)
				}
				if !errors.Is(err, errFault) {
					t.Fatalf("%s, call %d fails and the caller is told %v", st.name, n, err)
				}
				if n == commits[i] && after {
					next++ // this was the last call of the step
				}
				if got := o.dump(t); got != dumps[next] {
					t.Fatalf("%s, call %d failed, after %v: neither there nor not there:\n%s", st.name, n, after, got)
				}
			}
		}
		if !soaktest.Skips(i) {
			o.goOn(t, steps, dumps, next)
		}
		o.close(t)
	}
	t.Logf("%d steps, %d kills, %d failures, %d call sites", len(steps), len(copies), points, len(sites))
	for _, site := range writes(t) {
		if sites[site] == 0 {
			t.Errorf("nothing crashed at %s", site)
		}
	}
}

// TestAKillWhileOpening: Loop is killed while a database is made or brought up to date.
// After the next start it is complete, with its old contents.
func TestAKillWhileOpening(t *testing.T) {
	for _, from := range []int64{0, 1} {
		t.Run(fmt.Sprintf("schema %d", from), func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "new", "loop.db")
			if from > 0 {
				earlier(t, path, from)
			}
			var copies []string
			f := &faults{}
			f.look = func(int, bool, bool, string) {
				to := filepath.Join(dir, fmt.Sprint("killed", len(copies)), "loop.db")
				copyDatabase(t, path, to)
				copies = append(copies, to)
			}
			f.arm(0, false)
			openFaulty(t, path, f).close(t)
			f.disarm()
			if len(copies) < 10 {
				t.Fatalf("only %d calls", len(copies))
			}
			for i, p := range copies {
				if soaktest.Skips(i) && i != len(copies)-1 {
					continue
				}
				s := openAt(t, p)
				if from == 0 {
					addChannel(t, s, "c")
					enqueue(t, s, core.Run{ID: "r", ChannelID: "c", Prompt: "keep me"})
				}
				run, ok, err := s.ClaimNext(t.Context(), "c")
				if err != nil || !ok || run.ID != "r" || run.Prompt != "keep me" || run.Session != (core.SessionStart{}) || s.InstallID() == "" {
					t.Fatalf("after a kill: %+v %v %v", run, ok, err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// earlier makes a database as an earlier Loop left it, with one prompt that waits.
func earlier(t *testing.T, path string, version int64) {
	t.Helper()
	if err := createPrivate(path); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", dsn(path, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	sub, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, sub)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range []string{
		"insert into meta (key, value) values ('install_id', 'old')",
		"insert into channels (id, kind, name, dir, created_at) values ('c', 'project', 'c', '/c', 1)",
		"insert into runs (id, channel_id, prompt, state, created_at) values ('r', 'c', 'keep me', 'queued', 1)",
	} {
		if _, err := db.Exec(stmt); err != nil {
			t.Fatal(stmt, err)
		}
	}
}

// writes lists the places in this package's source that run a statement inside a
// transaction, begin one or commit one.
func writes(t *testing.T) (out []string) {
	t.Helper()
	statements := map[string]bool{}
	for m := range reflect.TypeFor[queries]().Methods() {
		statements[m.Name] = true
	}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			on, _ := method.X.(*ast.Ident)
			if on != nil && on.Name == "q" && statements[method.Sel.Name] || method.Sel.Name == "BeginTx" || on != nil && on.Name == "tx" && method.Sel.Name == "Commit" {
				out = append(out, fmt.Sprintf("%s:%d", name, fset.Position(method.Sel.Pos()).Line))
			}
			return true
		})
	}
	if len(out) < 30 {
		t.Fatalf("found only %d", len(out))
	}
	return out
}

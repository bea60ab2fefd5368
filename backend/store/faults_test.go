package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"loop/backend/core"
)

func failure(t *testing.T, err error, code core.Code, words ...string) {
	t.Helper()
	f, ok := errors.AsType[*core.Failure](err)
	if !ok {
		t.Fatalf("not a failure: %v", err)
	}
	if f.Code != code || f.Remedy == "" {
		t.Errorf("failure %s, remedy %q, want code %s", f.Code, f.Remedy, code)
	}
	for _, w := range words {
		if !strings.Contains(f.Cause, w) {
			t.Errorf("cause %q does not name %q", f.Cause, w)
		}
	}
}

func TestNewerSchemaIsRefusedAndLeftAlone(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "loop.db")
	s := openAt(t, path)
	if _, err := s.writer.Exec("insert into goose_db_version (version_id, is_applied) values (999, 1)"); err != nil {
		t.Fatal(err)
	}
	s.Close()
	before, _ := os.ReadFile(path)
	_, err := Open(ctx, path, Options{})
	failure(t, err, core.CodeDatabase, path, "newer")
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("the newer database was changed")
	}
}

func TestDamagedFileNamesItself(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "loop.db")
	junk := []byte(strings.Repeat("this is not a database ", 1000))
	if err := os.WriteFile(path, junk, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(ctx, path, Options{})
	failure(t, err, core.CodeDatabase, path, "damaged")
	if got, _ := os.ReadFile(path); string(got) != string(junk) {
		t.Error("the damaged file was changed")
	}

	// A real database is damaged inside, which shows during work.
	path = filepath.Join(t.TempDir(), "real.db")
	s := openAt(t, path)
	addChannel(t, s, "c")
	enqueue(t, s, core.Run{ID: "r", ChannelID: "c", Prompt: strings.Repeat("x", 100_000)})
	s.Close()
	raw, _ := os.ReadFile(path)
	for i := 4096; i < len(raw); i++ {
		raw[i] = 0xa5
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(ctx, path, Options{})
	failure(t, err, core.CodeDatabase, path, "damaged")
}

func TestUnusablePlaces(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	_, err := Open(ctx, dir, Options{})
	failure(t, err, core.CodeDatabase, dir)

	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(file, "loop.db")
	_, err = Open(ctx, below, Options{})
	failure(t, err, core.CodeDatabase, below)

	if os.Geteuid() > 0 { // root may write anything, which TestReadOnlyDatabase covers
		shut := filepath.Join(dir, "shut")
		if err := os.Mkdir(shut, 0o500); err != nil {
			t.Fatal(err)
		}
		_, err = Open(ctx, filepath.Join(shut, "loop.db"), Options{})
		failure(t, err, core.CodeDatabase, shut, "may not write")
	}
}

func TestReadOnlyDatabase(t *testing.T) {
	s := open(t)
	addChannel(t, s, "c")
	if _, err := s.writer.Exec("pragma query_only(1)"); err != nil {
		t.Fatal(err)
	}
	_, _, _, err := s.Enqueue(context.Background(), core.Run{ID: "r", ChannelID: "c"})
	failure(t, err, core.CodeDatabase, s.path, "may not write")
}

func TestFullDiskKeepsWhatWasThere(t *testing.T) {
	ctx := context.Background()
	s := open(t)
	addChannel(t, s, "c")
	enqueue(t, s, core.Run{ID: "r", ChannelID: "c"})
	run, _, _ := s.ClaimNext(ctx, "c")
	if _, err := s.writer.Exec("pragma max_page_count = 1"); err != nil { // clamps to the present size: SQLITE_FULL as from a full disk
		t.Fatal(err)
	}
	big := notice("c", "r", strings.Repeat("x", 1<<20))
	_, err := s.AppendEvents(ctx, run.ID, 0, 100, big)
	failure(t, err, core.CodeDiskFull, s.path)
	if got, _ := s.Run(ctx, "r"); got.SpoolOffset != 0 {
		t.Errorf("offset moved to %d without its events", got.SpoolOffset)
	}
	if _, err := s.writer.Exec("pragma max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AppendEvents(ctx, run.ID, 0, 100, big); err != nil {
		t.Errorf("after space was freed: %v", err)
	}
}

// crashChild writes runs without end and prints the acknowledged ones.
func crashChild(path string) {
	ctx := context.Background()
	s, err := Open(ctx, path, Options{})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	_ = s.AddChannel(ctx, core.Channel{ID: "c", Kind: core.KindProject})
	for {
		id := core.RunID(core.NewID())
		step := func(word string, err error) {
			if err != nil {
				fmt.Println("error", word, err)
				os.Exit(1)
			}
			fmt.Println(word, id)
		}
		_, _, _, err := s.Enqueue(ctx, core.Run{ID: id, ChannelID: "c"}, notice("c", id, "asked"))
		step("queued", err)
		run, ok, err := s.ClaimNext(ctx, "c")
		if !ok && err == nil {
			err = errors.New("nothing to claim")
		}
		step("claimed", err)
		for i := range int64(5) {
			_, err = s.AppendEvents(ctx, id, i*10, i*10+10, notice("c", id, "turn"), notice("c", id, "tool"))
			step(fmt.Sprintf("append%d", i+1), err)
		}
		run.State, run.Outcome.SessionID = core.RunDone, core.SessionID(id)
		_, err = s.FinishRun(ctx, run, notice("c", id, "end"))
		step("finished", err)
	}
}

// TestKilledWriterLosesNothingAcknowledged kills a writing process at many moments.
// Every acknowledged change must be there, as a whole.
func TestKilledWriterLosesNothingAcknowledged(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for lines := 3; lines < 120; lines += 13 {
		path := filepath.Join(t.TempDir(), "loop.db")
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), "LOOP_STORE_CRASH_DB="+path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		last := map[core.RunID]string{}
		var order []core.RunID
		sc := bufio.NewScanner(out)
		for n := 0; sc.Scan(); n++ {
			word, id, _ := strings.Cut(sc.Text(), " ")
			if word == "error" {
				t.Error(sc.Text())
			}
			if _, known := last[core.RunID(id)]; !known {
				order = append(order, core.RunID(id))
			}
			last[core.RunID(id)] = word
			if n == lines {
				cmd.Process.Kill()
			}
		}
		cmd.Wait()

		s := openAt(t, path)
		var check string
		if err := s.writer.QueryRow("pragma integrity_check").Scan(&check); err != nil || check != "ok" {
			t.Fatalf("integrity: %s %v", check, err)
		}
		for i, id := range order {
			word := last[id]
			r, err := s.Run(ctx, id)
			if err != nil {
				t.Fatalf("run %s, acknowledged as %s, is lost: %v", id, word, err)
			}
			evs, err := runEvents(ctx, s, id)
			if err != nil {
				t.Fatal(err)
			}
			want := 1 + 2*int(r.SpoolOffset/10)
			if r.State == core.RunDone {
				want++
			}
			if len(evs) != want {
				t.Errorf("run %s at offset %d, %s: %d events, want %d", id, r.SpoolOffset, r.State, len(evs), want)
			}
			var n int64
			if _, err := fmt.Sscanf(word, "append%d", &n); err == nil && r.SpoolOffset < n*10 {
				t.Errorf("acknowledged offset %d, stored %d", n*10, r.SpoolOffset)
			}
			if word == "finished" && r.State != core.RunDone {
				t.Errorf("acknowledged the end, stored %s", r.State)
			}
			if i == len(order)-1 && word == "finished" {
				if c, _ := s.Channel(ctx, "c"); c.SessionID != core.SessionID(id) {
					t.Errorf("session %s, want %s", c.SessionID, id)
				}
			}
		}
		s.Close()
	}
}

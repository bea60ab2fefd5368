package signin

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"loop/backend/core"
	"loop/backend/leaktest"
	"loop/backend/signin/signintest"
	"loop/backend/terminal/vt"
)

func TestMain(m *testing.M) {
	signintest.Main(m, func(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) })
}

const patience = 30 * time.Second

type rig struct {
	*Session
	t      *testing.T
	folder string
	shown  chan Screen
	words  chan string
}

func begin(t *testing.T, how string) *rig {
	t.Helper()
	t.Setenv("ANTHROPIC_API_KEY", "not for the program")
	r := &rig{t: t, folder: filepath.Join(t.TempDir(), "signin"), shown: make(chan Screen, 100), words: make(chan string, 1)}
	s, err := Start(Options{Program: signintest.Use(t, how), Folder: r.folder, Changed: func(s Screen) { r.shown <- s },
		Ended: func(words string, err error) {
			if err != nil {
				t.Error(err)
			}
			r.words <- words
		}})
	if err != nil {
		t.Fatal(err)
	}
	r.Session = s
	t.Cleanup(func() {
		if err := s.End(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(r.folder); err == nil {
			t.Error("the program's folder is still there")
		}
	})
	return r
}

func (r *rig) until(what string, ok func(Screen) bool) Screen {
	r.t.Helper()
	end := time.After(patience)
	for {
		select {
		case s := <-r.shown:
			if ok(s) {
				return s
			}
			if s.Error != "" {
				r.t.Fatalf("%s: %+v", what, s)
			}
		case <-end:
			r.t.Fatalf("never: %s", what)
		}
	}
}

func TestSignInWithACode(t *testing.T) {
	r := begin(t, "asks")
	s := r.until("it asks", func(s Screen) bool { return s.Asks })
	if s.URL != signintest.URL || s.Token != "" {
		t.Errorf("%+v", s)
	}
	for _, bad := range []string{"", " ", "two words", "x\x1b[A", strings.Repeat("x", maxCode+1)} {
		if err := r.Code(bad); core.AsFailure(err).Code != core.CodeInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := r.Code(" " + signintest.Code + "\n"); err != nil {
		t.Fatal(err)
	}
	if s := r.until("a token", func(s Screen) bool { return s.Token != "" }); s.Token.Reveal() != signintest.Token {
		t.Errorf("%q", s.Token.Reveal())
	}
	if words := <-r.words; strings.Contains(words, signintest.Token) || !strings.Contains(words, "(token)") {
		t.Errorf("its last words: %q", words)
	}
	if err := r.Code("late#code"); err == nil {
		t.Error("a program that has ended took a code")
	}
}

func TestSignInByTheBrowserAlone(t *testing.T) {
	begin(t, "opens").until("a token", func(s Screen) bool { return s.Token.Reveal() == signintest.Token })
}

func TestAWrongCode(t *testing.T) {
	r := begin(t, "asks")
	r.until("it asks", func(s Screen) bool { return s.Asks })
	if err := r.Code("bad#code"); err != nil {
		t.Fatal(err)
	}
	s := r.until("an error", func(s Screen) bool { return s.Error != "" })
	if s.Error != "Invalid code. Please make sure the full code was copied" {
		t.Errorf("%q", s.Error)
	}
}

func TestAnEndWithoutAToken(t *testing.T) {
	r := begin(t, "ends")
	if words := <-r.words; !strings.Contains(words, "Your account is on hold.") {
		t.Errorf("%q", words)
	}
}

func TestNoProgram(t *testing.T) {
	_, err := Start(Options{Program: filepath.Join(t.TempDir(), "claude"), Folder: t.TempDir()})
	if f := core.AsFailure(err); f.Code != core.CodeNotFound || !strings.Contains(f.Remedy, "setup-token") {
		t.Errorf("%+v", f)
	}
}

// TestTheRealScreen: what Claude Code 2.1.332 printed on a computer without a network, byte by byte.
func TestTheRealScreen(t *testing.T) {
	data, err := os.ReadFile("testdata/setup-token-2.1.332.bin")
	if err != nil {
		t.Fatal(err)
	}
	screen := vt.New(600, 50, vt.Options{Answer: func([]byte) {}})
	var seen []Screen
	for chunk := range 1 + len(data)/100 {
		_, _ = screen.Write(data[chunk*100 : min(len(data), chunk*100+100)])
		if s := read(plain(screen.Snapshot())); len(seen) == 0 || seen[len(seen)-1] != s {
			seen = append(seen, s)
		}
	}
	asked := false
	for _, s := range seen {
		asked = asked || s.Asks && s.Error == "" && strings.HasPrefix(s.URL, "https://claude.ai/oauth/authorize?") && len(s.URL) > 70
	}
	last := seen[len(seen)-1]
	if !asked || last.Error != "Couldn't get an answer from the sign-in service (ENOTFOUND). Check your internet connection, then try again." {
		t.Errorf("%+v", seen)
	}
}

// TestHalfAToken: a token counts once something follows it.
func TestHalfAToken(t *testing.T) {
	const half = "sk-ant-oat01-pretend-0123456789"
	for _, tc := range []struct {
		written []string
		open    bool
	}{
		{[]string{half}, true},
		{[]string{"x\r\n\x1b[33m" + half, "abc", "\x1b[?25h"}, true},
		{[]string{"sk-ant", "-oat01"}, true},
		{[]string{half, "\r\n"}, false},
		{[]string{half + "\x1b[39m\r\nStore it"}, false},
		{[]string{half + "\x1b", "[39"}, false},
		{[]string{half + "\x1b[5Cnext"}, false},
		{[]string{half + "│", "é"}, false},
		{[]string{"x" + half}, false},
		{[]string{"\xff" + half}, true},
	} {
		end := ""
		for _, w := range tc.written {
			end = run(end, []byte(w))
		}
		if strings.HasPrefix(end, tokenStart) != tc.open {
			t.Errorf("%q: %q", tc.written, end)
		}
	}
	if end := run(strings.Repeat("a", maxRun), []byte("bc")); len(end) != maxRun || !strings.HasSuffix(end, "abc") {
		t.Errorf("%d are kept", len(end))
	}
}

func FuzzScreen(f *testing.F) {
	f.Add([]byte("x\x1b[3Cy OAuth error: z"))
	f.Add([]byte("sk-ant-oat01-aaaaaaaaaaaaaaaaaaaaaaaa\r\nhttps://claude.ai/oauth/authorize?x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		text := plain(data)
		s := read(text)
		if len([]rune(s.Error)) > maxError+1 || len(s.URL) > maxURL || strings.ContainsAny(s.Error+s.URL, "\x1b\n") {
			t.Errorf("%+v", s)
		}
		if s.Token != "" && (s.Error != "" || strings.Contains(lastLines(text), s.Token.Reveal())) {
			t.Errorf("%+v", s)
		}
	})
}

package supportbundle

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

var mira = Personal{Home: "/home/mira", User: "mira", Host: "tower", Secrets: []string{"own-password-1"},
	Projects: []Project{{"payments", "/home/mira/src/payments"}, {"api", "/srv/work/api"}}}

func TestHidden(t *testing.T) {
	hide := mira.hiding()
	for text, want := range map[string]string{
		"open /home/mira/src/payments/main.go: no":                                   "open <project 1>/main.go: no",
		"dir=/home/mira/.loop":                                                       "dir=~/.loop",
		"channel payments of mira on tower":                                          "channel <project 1> of <user> on <computer>",
		"admiral repayments towering":                                                "admiral repayments towering",
		`"key":"sk-ant-api03-abcdefgh_-1"`:                                           `"key":"<hidden>"`,
		"Authorization: Bearer abcdef.ghi-jkl":                                       "Authorization: Bearer <hidden>",
		"GITHUB_TOKEN=abcd1234":                                                      "GITHUB_TOKEN=<hidden>",
		`{"api_key": "abcd1234", "n": 1}`:                                            `{"api_key": "<hidden>", "n": 1}`,
		`msg="{\"password\":\"hunter22\"}"`:                                          `msg="{\"password\":\"<hidden>\"}"`,
		"https://me:pw@example.org/x":                                                "https://<hidden>@example.org/x",
		"ghp_abcdefghijklmnop1234":                                                   "<hidden>",
		"AKIAABCDEFGHIJKLMNOP":                                                       "<hidden>",
		"eyJhbGciOiJIUzI1.eyJzdWIiOiIx.c2lnbmF0":                                     "<hidden>",
		"from mira@example.org, own-password-1":                                      "from <hidden>, <hidden>",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest": "<hidden>\nrest",
		"-----BEGIN PRIVATE KEY-----\nMIIE":                                          "<hidden>",
		"max_tokens: 12 tokens used, token count 5":                                  "max_tokens: 12 tokens used, token count 5",
		"level=INFO msg=spawned id=8e41b7 pid=12":                                    "level=INFO msg=spawned id=8e41b7 pid=12",
	} {
		if got := hide(text); got != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
	windows := Personal{Home: `C:\Users\mira`, User: "mira"}.hiding()
	if got := windows(`open C:\Users\mira\x "C:\\Users\\mira\\y"`); got != `open ~\x "~\\y"` {
		t.Errorf("%q", got)
	}
}

func TestBundle(t *testing.T) {
	var b bytes.Buffer
	long := strings.Repeat("a line of mira\n", MaxPart/15+100)
	at := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	if err := Write(&b, []Part{{"about.txt", "Loop on tower"}, {"loop.log", long}}, mira, at); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || len(z.File) != 2 {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		texts[f.Name] = string(text)
	}
	if texts["about.txt"] != "Loop on <computer>" {
		t.Errorf("%q", texts["about.txt"])
	}
	log := texts["loop.log"]
	if !strings.HasPrefix(log, "(The beginning is left out.)\na line of <user>\n") || strings.Contains(log, "mira") || len(log) > MaxPart*2 {
		t.Errorf("%d bytes, %.80q", len(log), log)
	}
}

// FuzzHidden: a known secret never stays, whatever is around it.
func FuzzHidden(f *testing.F) {
	f.Add("a", "b")
	f.Add("sk-", "@x.de")
	f.Add(`\`, "://")
	hide := mira.hiding()
	f.Fuzz(func(t *testing.T, before, after string) {
		if got := hide(before + "own-password-1" + after); strings.Contains(got, "own-password-1") {
			t.Fatalf("%q", got)
		}
	})
}

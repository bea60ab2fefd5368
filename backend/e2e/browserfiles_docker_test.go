//go:build docker

package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"loop/backend/core"
)

// filePages takes files and hands one out, on port 8080 of the agent's container.
const filePages = `
import http.server
class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body, kind = b"", "text/html"
        if self.path == "/get":
            body, kind = b"from the page\n", "application/octet-stream"
        elif self.path == "/":
            body = b"<!doctype html><title>Files</title><label>File <input type=file id=f multiple accept='.txt'></label><p id=o></p>" \
                b"<script>f.onchange = async () => { o.textContent = (await Promise.all(Array.from(f.files, async (x) => x.name + ' has ' + await x.text()))).join(); }</script>"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        if self.path == "/get":
            self.send_header("Content-Disposition", 'attachment; filename="../../../etc/cron.d/pl\\xe2\\x80\\xaean.txt"'.encode().decode("unicode_escape"))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *a): pass
http.server.ThreadingHTTPServer(("127.0.0.1", 8080), Pages).serve_forever()
`

// TestFilesOfTheBrowser uploads a file of the workspace, one that a person chose, and
// downloads one whose name leads elsewhere, between real containers and under the gate.
func TestFilesOfTheBrowser(t *testing.T) {
	h := newHome(t, `{"gates":{"agentgate":{"file_rules":[{"id":"hidden","paths":["/**/secret-*"],"operations":["read"],"decision":"deny"}]}}}`)
	s, ch, p := h.browser()
	shell := s.termClient(t)
	shell.create(fmt.Sprintf(`"channel_id":%q,"cmd":["/bin/bash"],"cols":200,"rows":50`, ch))
	shell.typeIn("echo " + base64.StdEncoding.EncodeToString([]byte(filePages)) + " | base64 -d > /tmp/pages.py; " +
		"printf 'text of the workspace' > notes.txt; echo hidden > secret-x; ln -s /etc/passwd link.txt; clear; " +
		"python3 /tmp/pages.py & for i in $(seq 100); do curl -sf http://127.0.0.1:8080/ > /dev/null && break; sleep 0.1; done; echo 'ser''ves'\r")
	shell.shown("serves")
	open := func() int {
		t.Helper()
		if res := p.act("navigate", map[string]any{"url": "http://localhost:8080/"}); res.Error != "" {
			t.Fatalf("%+v", res)
		}
		res := p.act("read_page", nil)
		for _, e := range res.Elements {
			if e.Name == "File" {
				return e.Ref
			}
		}
		t.Fatalf("no file input: %+v", res)
		return 0
	}
	has := func(want string) {
		t.Helper()
		if res := p.act("evaluate", map[string]any{"expression": "new Promise(r => setTimeout(() => r(o.textContent), 300))"}); !strings.Contains(res.Result, want) {
			t.Errorf("the page says %+v, not %q", res, want)
		}
	}
	ref := open()
	give := func(at string) core.BrowserResult {
		t.Helper()
		return p.act("form_input", map[string]any{"ref": ref, "value": at})
	}
	if res := give("notes.txt"); res.Error != "" {
		t.Errorf("%+v", res)
	}
	has("notes.txt has text of the workspace")
	if res := give("link.txt\nnotes.txt"); res.Error != "" { // where the agent could go itself
		t.Errorf("%+v", res)
	}
	has("link.txt has root:")
	for at, want := range map[string]string{
		"secret-x": "could not be read", "missing.txt": "There is no file", "/tmp": "no ordinary file", "/dev/zero": "no ordinary file",
		"/run/loop/link.sock": "", "/root/.ssh/id_rsa": "",
	} {
		if res := give(at); res.Error == "" || !strings.Contains(res.Error, want) {
			t.Errorf("%s: %+v", at, res)
		}
	}
	has("link.txt has root:") // a refused file changes nothing

	// What is downloaded lies where the agent and the person find it.
	res := p.act("navigate", map[string]any{"url": "http://localhost:8080/get"})
	m := regexp.MustCompile(`^Downloaded “([^”]+)”, 14 bytes, to (/\S*/\.loop-browser/([^/]+\.txt))\.`).FindStringSubmatch(res.Result)
	if m == nil || m[1] != m[3] || strings.Contains(m[3], "..") || core.PlainFileName(m[3]) != m[3] {
		t.Fatalf("%+v", res)
	}
	shell.typeIn("cat " + core.ShellQuote(m[2]) + "; ls /etc/cron.d/*an.txt\r")
	shell.shown("from the page")
	shell.shown("No such file")
	p.wait("the download in the pane", func() bool {
		d := p.state.Downloads
		return len(d) == 1 && d[0].State == core.DownloadDone && d[0].Path == m[2] && d[0].Name == m[1] && d[0].Bytes == 14
	})
	if res := p.act("navigate", map[string]any{"url": "http://localhost:8080/get"}); !strings.Contains(res.Result, "(2).txt") {
		t.Errorf("the same name once more: %+v", res)
	}

	// A person chooses a file of theirs.
	ref = open()
	if res := p.act("computer", map[string]any{"action": "click", "ref": ref}); res.Error != "" {
		t.Fatalf("%+v", res)
	}
	p.wait("the chooser", func() bool { c := p.state.Chooser; return c != nil && c.Multiple && c.Accept == ".txt" })
	at := s.putBrowserFile(t, ch, "../mine.txt", "text of the person")
	if res := p.act("choose_files", map[string]any{"paths": []string{"/etc/passwd"}}); res.Error == "" {
		t.Errorf("a path that was not put there was given: %+v", res)
	}
	if res := p.act("choose_files", map[string]any{"paths": []string{at}}); res.Error != "" {
		t.Errorf("%+v", res)
	}
	has("mine.txt has text of the person")
	p.wait("the end of the chooser", func() bool { return p.state.Chooser == nil })

	// A screenshot lies there, too.
	shell.typeIn(`curl -s http://127.0.0.1:8222/api/browser/action -d '{"action":"screenshot"}' > /tmp/shot; clear; python3 -c 'import json; ` +
		`a = json.load(open("/tmp/shot")); print("shot", a.get("error"), open(a["screenshot_path"], "rb").read(4), a["screenshot_path"], len(a["image"]) > 1000)'` + "\r")
	shell.shown("shot None b'\\x89PNG' ")
	if text := shell.text(); !regexp.MustCompile(`/\.loop-browser/screenshot-\d+\.png True`).MatchString(text) {
		t.Errorf("%q", text)
	}
}

// putBrowserFile is what a pane does with a file that the person chose.
func (s *server) putBrowserFile(t *testing.T, ch core.ChannelID, name, text string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		s.url+"api/browser/files?"+url.Values{"channel_id": {string(ch)}, "name": {name}}.Encode(), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	var answer struct{ Path string }
	if err != nil || res.StatusCode != http.StatusOK || json.Unmarshal(body, &answer) != nil {
		t.Fatalf("%d %s %v", res.StatusCode, body, err)
	}
	return answer.Path
}

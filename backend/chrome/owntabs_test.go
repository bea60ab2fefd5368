package chrome

import "testing"

func TestAddressesOfDevTools(t *testing.T) {
	b := &Browser{o: Options{DevToolsPort: 9222}}
	for _, bad := range []string{
		"http://127.0.0.1:9222/json/list", "http://localhost:9222", "http://[::ffff:7f00:1]:9222/", "https://anything.example:9222?x", "http://me:it@127.0.0.1:9222/#y",
		"ws://127.0.0.1:9222/devtools/browser/x", `http://127.0.0.1:9222\x`,
	} {
		if !b.forbidden(bad) {
			t.Errorf("%s is let through", bad)
		}
	}
	for _, good := range []string{
		"", "about:blank", "http://127.0.0.1:8080/", "http://127.0.0.1:80/%zz?of=http://127.0.0.1:9222/json", "http://127.0.0.1:19222/", "http://127.0.0.1/:9222/",
		"https://example.com/#:9222/", "data:text/html,http://127.0.0.1:9222/", "chrome-error://chromewebdata/",
	} {
		if b.forbidden(good) {
			t.Errorf("%s is refused", good)
		}
	}
	if (&Browser{}).forbidden("http://127.0.0.1:9222/") {
		t.Error("a Chromium in a container has no port")
	}
}

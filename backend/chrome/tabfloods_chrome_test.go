//go:build chrome

package chrome

import (
	"net/http"
	"testing"
)

const (
	opensByCalls = `Array.from({length: 200}).forEach((_, i) => window.open("/inner.html?" + i, "_blank", "noopener"))`
	// V8 looks whether a loop shall end after its first rounds, and then not for some hundred.
	opensInALoop = `const each = (n, open) => { for (let i = 0; i < n; i++) open("/inner.html?" + i, "_blank", "noopener") };
		each(60, Number); each(200, window.open)`
)

func serveFlood(w http.ResponseWriter, _ *http.Request) {
	_, _ = w.Write([]byte(`<!doctype html><title>Floods</title><script>` + opensInALoop + `</script>`))
}

// TestTabFloods has pages open tab after tab. A script that V8 can end is ended, and its
// page stays; the page of another is loaded again, and left where it begins anew.
func TestTabFloods(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script, kept string }{{"calls", opensByCalls, "1"}, {"a loop", opensInALoop, "undefined"}} {
		t.Run(c.name, func(t *testing.T) {
			r := start(t, Options{}, "--disable-popup-blocking")
			r.open("form.html?flood#here")
			first := r.Tabs()[0].ID
			r.eval(`window.mark = 1`)
			r.fails("The script opened tab after tab beyond the 20 that there may be, and was stopped. Open fewer.",
				"evaluate", obj{"expression": c.script})
			r.must("switch_tab", obj{"target_id": first})
			if info := r.within(doTimeout, "page_info", nil); info.Error != "" || info.Page.URL != r.url+"/form.html?flood#here" {
				t.Errorf("%+v", info)
			}
			if mark := r.eval(`window.mark`); mark != c.kept {
				t.Errorf("the mark of the page is %s", mark)
			}
		})
	}
	t.Run("as it loads", func(t *testing.T) {
		r := start(t, Options{}, "--disable-popup-blocking")
		r.do("navigate", obj{"url": r.url + "/flood"})
		r.shows("an empty page", func() bool { return r.Tabs()[0].URL == "about:blank" && !r.Tabs()[0].Loading })
		r.must("switch_tab", obj{"target_id": r.Tabs()[0].ID})
		r.has(r.within(doTimeout, "page_info", nil).Result, "about:blank")
		r.open("form.html")
		r.must("read_page", nil)
	})
}

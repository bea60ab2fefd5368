package engine

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"loop/backend/core"
)

// TestListWithoutGhosts: what the engine lists as being removed counts only while it knows it.
func TestListWithoutGhosts(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		say := func(code int, v any) { w.WriteHeader(code); _ = json.NewEncoder(w).Encode(v) }
		switch p := r.URL.Path; {
		case strings.HasSuffix(p, "/_ping"):
			w.Header().Set("API-Version", "1.41")
			w.Header().Set("OSType", "linux")
		case strings.HasSuffix(p, "/containers/json"):
			say(200, []map[string]any{
				{"Id": "lives", "State": "running"}, {"Id": "ghost", "State": "removing"},
				{"Id": "goes", "State": "removing"}, {"Id": "unsure", "State": "removing"},
			})
		case strings.HasSuffix(p, "/containers/ghost/json"):
			say(404, map[string]string{"message": "No such container: ghost"})
		case strings.HasSuffix(p, "/containers/goes/json"):
			say(200, map[string]any{"Id": "goes"})
		default:
			say(500, map[string]string{"message": "busy"})
		}
	}))
	d := Open(Options{Host: "tcp://" + strings.TrimPrefix(srv.URL, "http://"), Folder: t.TempDir()})
	t.Cleanup(func() { _ = d.Close(); srv.Close() })
	list, err := d.List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var ids []core.ContainerID
	for _, c := range list {
		ids = append(ids, c.ID)
	}
	if len(ids) != 3 || ids[0] != "lives" || ids[1] != "goes" || ids[2] != "unsure" {
		t.Errorf("%v", ids)
	}
}

package api

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"loop/backend/bind"
	"loop/backend/core"
)

// oneApproval is a queue with a single question.
type oneApproval struct {
	bind.GateService
	got []core.ApprovalAnswer
}

func (g *oneApproval) Pending() []core.Approval { return []core.Approval{{ID: "a1", Digest: "d1"}} }

func (g *oneApproval) Answer(_ context.Context, id string, a core.ApprovalAnswer) (core.Approval, error) {
	switch {
	case id != "a1":
		return core.Approval{}, core.Fail(core.CodeNotFound, core.ErrNotFound, "It does not wait.", "")
	case a.Digest != "d1":
		return core.Approval{}, core.Fail(core.CodeConflict, core.ErrConflict, "It is another.", "")
	}
	g.got = append(g.got, a)
	return core.Approval{ID: id}, nil
}

func TestApprovalsOverHTTP(t *testing.T) {
	g := &oneApproval{}
	s := &Server{opts: Options{Approvals: g}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/gate/approvals", s.listApprovals)
	mux.HandleFunc("POST /api/gate/approvals/{id}", s.answerApproval)
	do := func(method, path, body string) (int, string) {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
		b, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		return w.Code, string(b)
	}
	if code, body := do(http.MethodGet, "/api/gate/approvals", ""); code != http.StatusOK || !strings.HasPrefix(body, `{"approvals":[{"approval_id":"a1"`) {
		t.Errorf("%d %s", code, body)
	}
	for _, tc := range []struct {
		id, body string
		code     int
	}{
		{"a1", `{"decision":"once","digest":"d1"}`, 204},
		{"a1", `{"decision":"session","digest":"d1","author_id":"me"}`, 204},
		{"a1", `{"decision":"deny-session"}`, 204},
		{"a1", `{"decision":"once"}`, 409},
		{"a1", `{"decision":"deny","digest":"other"}`, 409},
		{"a2", `{"decision":"deny"}`, 404},
		{"a1", `{"decision":"allow","digest":"d1"}`, 400},
		{"a1", `{"decision":"once","digest":"d1","scope":"always"}`, 400},
		{"a1", `nothing`, 400},
		{"a1", `{"decision":"deny","author_id":"` + strings.Repeat("x", maxAnswer) + `"}`, 400},
	} {
		if code, body := do(http.MethodPost, "/api/gate/approvals/"+tc.id, tc.body); code != tc.code {
			t.Errorf("%s %s: %d %s", tc.id, core.Shortened(tc.body, 80), code, body)
		}
	}
	if len(g.got) != 3 || g.got[1].Scope != core.ScopeRun || g.got[1].AuthorID != "me" || g.got[2].Allow || g.got[2].Digest != "d1" {
		t.Errorf("answers %+v", g.got)
	}
}

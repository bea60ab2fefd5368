package api

import (
	"encoding/json"
	"net/http"

	"loop/backend/bind"
	"loop/backend/core"
)

// maxAnswer bounds the body of an answer to an approval.
const maxAnswer = 16 << 10

// decisions are the words of the original for an answer, and two more for what it
// had no memory for.
var decisions = map[string]core.ApprovalAnswer{
	"once":         {Allow: true, Scope: core.ScopeOnce},
	"session":      {Allow: true, Scope: core.ScopeRun},
	"project":      {Allow: true, Scope: core.ScopeProject},
	"always":       {Allow: true, Scope: core.ScopeAlways},
	"deny":         {Scope: core.ScopeOnce},
	"deny-session": {Scope: core.ScopeRun},
}

// listApprovals serves GET /api/gate/approvals.
func (s *Server) listApprovals(w http.ResponseWriter, r *http.Request) {
	if s.opts.Approvals == nil {
		s.noGate(w)
		return
	}
	writeJSON(w, http.StatusOK, map[string][]core.Approval{"approvals": append([]core.Approval{}, s.opts.Approvals.Pending()...)})
}

// answerApproval serves POST /api/gate/approvals/{id}. An answer that allows names the
// digest of what was shown; one that denies may leave it out, since it does no harm to
// a question that has become another.
func (s *Server) answerApproval(w http.ResponseWriter, r *http.Request) {
	if s.opts.Approvals == nil {
		s.noGate(w)
		return
	}
	var in struct {
		Decision string `json:"decision"`
		Digest   string `json:"digest"`
		AuthorID string `json:"author_id"`
	}
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxAnswer))
	dec.DisallowUnknownFields()
	err := dec.Decode(&in)
	a, known := decisions[in.Decision]
	if err != nil || !known {
		writeFailure(w, core.Fail(core.CodeInvalid, err, "The answer is not one that Loop knows.",
			"Send decision as once, session, project, always, deny or deny-session."))
		return
	}
	id := r.PathValue("id")
	a.Digest, a.AuthorID, a.By = in.Digest, in.AuthorID, "the API"
	if !a.Allow && a.Digest == "" {
		a.Digest = digestOf(s.opts.Approvals, id)
	}
	if _, err := s.opts.Approvals.Answer(r.Context(), id, a); err != nil {
		writeFailure(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func digestOf(g bind.GateService, id string) string {
	for _, a := range g.Pending() {
		if a.ID == id {
			return a.Digest
		}
	}
	return ""
}

func (s *Server) noGate(w http.ResponseWriter) {
	writeJSON(w, http.StatusNotImplemented, core.Fail(core.CodeNotFound, nil, "This Loop has no gate.", ""))
}

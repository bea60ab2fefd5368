package settings

import (
	"os"
	"strings"
	"testing"

	"loop/backend/core"
)

const lightScheme = `{"name": "Paper", "background": "#fafafa", "foreground": "#383a42", "red": "#e45649"}`

func TestAnImportedThemeIsWorn(t *testing.T) {
	r, ctx := newSettingsRig(t), t.Context()
	problems := func() (out []core.SettingsProblem) {
		for _, p := range r.Status().Problems {
			if p.Field == "theme" {
				out = append(out, p)
			}
		}
		return out
	}
	if err := r.Set(ctx, core.LayerGlobal, "", "theme", "paper"); err != nil {
		t.Fatal(err)
	}
	if st := r.Status(); st.Theme != "system" || st.Look != nil || len(problems()) != 1 || !problems()[0].Warning || !strings.Contains(problems()[0].Message, "“paper”") {
		t.Fatalf("one that is not there: %+v", st)
	}
	read, err := r.ReadTheme("", lightScheme)
	if err != nil || read.Name != "Paper" || read.Look.Dark || len(r.Themes()) != 0 {
		t.Fatalf("%+v %v", read, err)
	}
	if _, err := r.KeepTheme("Dark", lightScheme); core.AsFailure(err).Code != core.CodeInvalid {
		t.Errorf("the name of Loop's own: %v", err)
	}
	if _, err := r.KeepTheme("Paper", lightScheme); err != nil {
		t.Fatal(err)
	}
	st := r.Status()
	if st.Theme != "Paper" || st.Look == nil || st.Look.Looks[0].Colors["bg-1"] != "#fafafa" || len(problems()) != 0 || len(st.Themes) != 1 {
		t.Errorf("%+v", st)
	}
	if err := r.RemoveTheme("Paper"); err != nil {
		t.Fatal(err)
	}
	if st := r.Status(); st.Theme != "system" || st.Look != nil || len(problems()) != 1 {
		t.Errorf("%+v", st)
	}
	if data, err := os.ReadFile(r.o.Source.Path()); err != nil || !strings.Contains(string(data), `"paper"`) {
		t.Errorf("the person's word is lost: %s %v", data, err)
	}
}

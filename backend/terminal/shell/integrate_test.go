package shell

import (
	"slices"
	"strings"
	"testing"
)

func TestWhichCommandsAreChanged(t *testing.T) {
	const dir = "/run/loop/it's"
	for _, c := range []struct{ argv, want, file string }{
		{"/bin/bash -l", "/bin/bash --rcfile /run/loop/it's/loop.bash -i", "loop.bash"},
		{"bash", "bash --rcfile /run/loop/it's/loop.bash -i", "loop.bash"},
		{"bash -i --login", "bash --rcfile /run/loop/it's/loop.bash -i", "loop.bash"},
		{"/usr/bin/zsh -l", "/bin/sh -c " + zshStart + " loop-zsh /run/loop/it's /usr/bin/zsh -l", ".zshenv"},
		{"fish -l", `fish -l --init-command source '/run/loop/it\'s/loop.fish'`, "loop.fish"},
		{"/bin/sh -l", "/bin/sh -l", ""},
		{"bash -c true", "bash -c true", ""},
		{"bash script", "bash script", ""},
		{"bash --norc", "bash --norc", ""},
		{"zsh -f", "zsh -f", ""},
		{"mybash", "mybash", ""},
		{"", "", ""},
	} {
		argv := strings.Fields(c.argv)
		before := slices.Clone(argv)
		got, env, files := Integrate(argv, dir)
		if strings.Join(got, " ") != c.want || len(env) != 0 {
			t.Errorf("%s became %q %v", c.argv, got, env)
		}
		if c.file == "" && len(files) != 0 || c.file != "" && (len(files) != 1 || files[0].Name != c.file || len(files[0].Data) == 0) {
			t.Errorf("%s: files %v", c.argv, files)
		}
		if !slices.Equal(argv, before) {
			t.Errorf("%s: the caller's command was changed", c.argv)
		}
	}
	if got, _, files := Integrate([]string{"bash"}, "relative"); len(got) != 1 || files != nil {
		t.Error("a relative directory was taken")
	}
}

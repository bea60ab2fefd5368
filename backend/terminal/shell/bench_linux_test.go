package shell

import "testing"

// BenchmarkCommand times a command of the shell itself, from its last key to the next
// prompt, with marks and without.
func BenchmarkCommand(b *testing.B) {
	dir := home(b, map[string]string{
		".bashrc": "PS1='here> '\n", ".zshrc": "PS1='here> '\n",
		".config/fish/config.fish": "set -g fish_greeting\nset -g fish_autosuggestion_enabled 0\nfunction fish_prompt; echo -n 'here> '; end\n",
	})
	for _, shell := range []string{"bash", "zsh", "fish"} {
		for _, c := range []struct {
			name  string
			marks bool
		}{{"plain", false}, {"marks", true}} {
			b.Run(shell+"/"+c.name, func(b *testing.B) {
				l := begin(b, dir, []string{shell}, c.marks)
				l.wait("here> ")
				for b.Loop() {
					if _, err := l.pty.Write([]byte("true\r")); err != nil {
						b.Fatal(err)
					}
					l.wait("here> ")
				}
			})
		}
	}
}

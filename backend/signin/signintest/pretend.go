// Package signintest has a pretend “claude setup-token”, which a test's own program becomes.
package signintest

import (
	"bufio"
	"io"
	"os"
	"strings"
	"testing"
)

// Pretend is the variable that says what the pretend program does: “asks” wants Code, “opens”
// goes on by itself, “ends” ends, “waits” does nothing more.
const Pretend = "PRETEND_SIGNIN"

// Token and Code are those of the pretend program.
const (
	Token = "sk-ant-oat01-pretend-0123456789abcdefghijkl"
	Code  = "good#code"
	URL   = "https://claude.ai/oauth/authorize?code=true&state=pretend"
)

// Main runs the pretend program if this process is one, and else the tests.
func Main(m *testing.M, tests func(*testing.M)) {
	if len(os.Args) == 2 && os.Args[1] == "setup-token" && os.Getenv(Pretend) != "" {
		pretend(os.Getenv(Pretend))
		os.Exit(0)
	}
	tests(m)
}

// Use has the program of a test stand in for Claude Code.
func Use(t *testing.T, how string) (program string) {
	t.Helper()
	t.Setenv(Pretend, how)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func pretend(how string) {
	if os.Getenv("CLAUDE_CONFIG_DIR") == "" || os.Getenv("ANTHROPIC_API_KEY") != "" {
		say("\x1b[31mError: the environment is not its own\x1b[0m\r\n")
		return
	}
	say("\x1b[1mThis\x1b[7Gwill guide you through\x1b[30Glong-lived auth token setup.\x1b[22m\r\n\r\n· Opening\x1b[12Gbrowser\r\n")
	say("\r\x1b[1AUse the URL below to sign in\r\n\r\n\x1b]8;id=x;" + URL + "\x07\x1b[38;5;246m" + URL + "\x1b[39m\x1b]8;;\x07\r\n")
	switch how {
	case "ends":
		say("Your account is on hold.\r\n")
		return
	case "waits":
		select {}
	case "asks":
		say("\r\n\x1b[2GPaste\x1b[8Gcode\x1b[13Ghere if prompted\r\n> ")
		code, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		if strings.TrimSpace(code) != Code {
			say("\r\n\x1b[38;5;211m✘\x1b[39m \x1b[38;5;211mOAuth error: Invalid code. " +
				"Please make sure the full code was copied\x1b[39m\r\n Press Enter to retry\r\n")
			select {}
		}
	}
	say("\x1b[2J\x1b[H✓ Long-lived authentication token created\r\n\r\nYour OAuth token (valid for 1 year):\r\n\r\n" +
		"\x1b[33m" + Token + "\x1b[39m\r\n")
}

func say(text string) { _, _ = io.WriteString(os.Stdout, text) } // whoever reads it may be gone

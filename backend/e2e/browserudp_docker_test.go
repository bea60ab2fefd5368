//go:build docker

package e2e

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"loop/backend/core"
)

// udpEcho answers each datagram to a port with itself.
const udpEcho = `
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("0.0.0.0", int(sys.argv[1])))
while True:
    data, who = s.recvfrom(2048)
    s.sendto(data, who)
`

// TestUDPOfTheBrowserReachesNothing: WebRTC sends UDP to whom a page names, which no proxy
// sees. What would carry it is not there: what is sent in Chromium's network comes nowhere,
// and what elsewhere leads a Chromium to a STUN server does not.
func TestUDPOfTheBrowserReachesNothing(t *testing.T) {
	_, s, ch, p := servedBrowser(t)
	gateway := bridgeGateway(t)
	here, err := net.ListenPacket("udp4", ":0")
	if err != nil {
		t.Fatal(err)
	}
	heard, done := make(chan string, 1000), make(chan struct{})
	go func() {
		defer close(done)
		for {
			data := make([]byte, 2048)
			n, from, err := here.ReadFrom(data)
			if err != nil {
				return
			}
			select {
			case heard <- from.String():
			default:
			}
			_, _ = here.WriteTo(data[:n], from)
		}
	}()
	t.Cleanup(func() {
		_ = here.Close()
		<-done
	})
	_, text, err := net.SplitHostPort(here.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}

	const agentsPort = 5349
	s.must("Terminals.Create", &core.TerminalInfo{}, map[string]any{
		"channel_id": ch, "target": "agent", "cmd": []string{"python3", "-c", udpEcho, strconv.Itoa(agentsPort)}, "cols": 80, "rows": 24,
	})
	var list []core.Container
	s.must("System.ListContainers", &list)
	i := slices.IndexFunc(list, func(c core.Container) bool { return c.ChannelID == ch && c.Type == core.TypeAgent })
	if i < 0 {
		t.Fatalf("no container of the agent: %+v", list)
	}
	about, err := docker(t.Context(), "inspect", "-f", "{{.HostConfig.NetworkMode}} {{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", string(list[i].ID))
	words := strings.Fields(about)
	if err != nil || len(words) != 2 {
		t.Fatalf("the network of the agent: %q %v", about, err)
	}
	targets := accessible{UDP: [][2]any{{gateway, port}, {words[1], agentsPort}}}
	run := func(network string) map[string]string {
		t.Helper()
		return tries(t, targets, "run", "--rm", "--network", network, "--entrypoint", "python3", "loop-agent:latest")
	}
	reached := func(got map[string]string) (n int) {
		for _, came := range got {
			if strings.HasPrefix(came, "open") {
				n++
			}
		}
		return n
	}
	var got map[string]string
	poll(t, "datagrams from the agent's network", func() bool { got = run(words[0]); return reached(got) == len(targets.UDP) })
	for len(heard) > 0 {
		<-heard
	}
	id := chromeContainer(t, ch)
	if got = run("container:" + id); len(got) != len(targets.UDP) || reached(got) != 0 {
		t.Errorf("from the network of Chromium: %v", got)
	}

	// The script of a page, in Loop's browser and in a Chromium of the same image with a network.
	script := `const c = new RTCPeerConnection({iceServers: [{urls: "stun:` + gateway + `:` + text + `"}]});
		c.createDataChannel("x"); c.createOffer().then((o) => c.setLocalDescription(o));`
	if res := p.act("evaluate", map[string]any{"expression": script + `new Promise((r) => {
		c.onicegatheringstatechange = () => c.iceGatheringState === "complete" && r("over"); setTimeout(() => r("over"), 3000); })`}); res.Error != "" {
		t.Error(res.Error)
	}
	if len(heard) > 0 {
		t.Errorf("this computer heard %s", <-heard)
	}
	name := "loop-e2e-stun-" + strings.ToLower(core.NewID())
	t.Cleanup(func() {
		if out, err := docker(context.Background(), "rm", "-f", name); err != nil {
			t.Errorf("%v %s", err, out)
		}
	})
	if out, err := docker(t.Context(), "run", "-d", "--name", name, "--network", "bridge", "--entrypoint", "chromium", "loop-chrome:latest", "--headless",
		"--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=/tmp/stun", "--remote-debugging-port=0", "data:text/html,<script>"+script+"</script>"); err != nil {
		t.Fatal(err, out)
	}
	poll(t, "the STUN request of a Chromium that has a network", func() bool { return len(heard) > 0 })
}

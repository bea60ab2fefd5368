package sandbox

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"loop/backend/core"
)

func TestContainerProxy(t *testing.T) {
	for in, want := range map[string]string{
		"http://proxy.test:8080":        "http://proxy.test:8080",
		"http://localhost:3128":         "http://host.docker.internal:3128",
		"http://LocalHost:3128/":        "http://host.docker.internal:3128/",
		"http://127.0.0.1:3128":         "http://host.docker.internal:3128",
		"http://127.1.2.3:3128":         "http://host.docker.internal:3128",
		"http://[::1]:3128":             "http://host.docker.internal:3128",
		"http://0.0.0.0:3128":           "http://host.docker.internal:3128",
		"http://localhost":              "http://host.docker.internal",
		"localhost:3128":                "host.docker.internal:3128",
		"127.0.0.1:3128":                "host.docker.internal:3128",
		":3128":                         "http://host.docker.internal:3128",
		"http://:3128":                  "http://host.docker.internal:3128",
		" http://localhost:1 ":          "http://host.docker.internal:1",
		"http://u:p@localhost:3128":     "http://u:p@host.docker.internal:3128",
		"http://u:p@ss@127.0.0.1:1/x":   "http://u:p@ss@host.docker.internal:1/x",
		"socks5h://localhost:1080":      "socks5h://host.docker.internal:1080",
		"http://localhost.test:1":       "http://localhost.test:1",
		"http://127.0.0.1.test:1":       "http://127.0.0.1.test:1",
		"http://proxy/?x=://localhost:": "http://proxy/?x=://localhost:",
		"http://[2001:db8::1]:3128":     "http://[2001:db8::1]:3128",
		"2001:db8::1":                   "2001:db8::1",
		"proxy.test":                    "proxy.test",
	} {
		got, moved, err := containerProxy(in)
		if err != nil || got != want || moved != strings.Contains(got, hostAlias) {
			t.Errorf("%q became %q (%v, %v), want %q", in, got, moved, err, want)
		}
	}
	for _, in := range []string{"", "http://", "a b", "http://x\ny", "http://x\x00", "\xff", strings.Repeat("x", maxProxy+1)} {
		if got, _, err := containerProxy(in); err == nil {
			t.Errorf("%q became %q", in, got)
		}
	}
}

func FuzzContainerProxy(f *testing.F) {
	for _, s := range []string{":1", "http://localhost:1", "http://u:p@[::1]:1/x", "[", "]:", "@", "://", "http://[::1", "a:b:c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, _, err := containerProxy(in)
		if err != nil {
			return
		}
		if plainText(got) != nil || strings.ContainsAny(got, " \t") {
			t.Errorf("%q became %q", in, got)
		}
		if again, _, err := containerProxy(got); err != nil || again != got {
			t.Errorf("%q became %q, then %q (%v)", in, got, again, err)
		}
	})
}

// proxyEnv returns the environment of programs in a project's container, and the
// credentials in it.
func proxyEnv(t *testing.T, host map[string]string, layers ...Layer) (env map[string]core.EnvVar, spawn []core.EnvVar, ex core.Explanation) {
	t.Helper()
	h := linuxHost()
	h.Env = host
	spec, ex := mustResolve(t, projectTree(), layers, subject("/home/mira/code/my-proj"), h)
	env, spawn = programEnv(t, spec, layers, h)
	return env, spawn, ex
}

func TestProxiesInBothCases(t *testing.T) {
	for name, c := range map[string]struct {
		host   map[string]string
		layers []Layer
		want   map[string]string
	}{
		"none":           {nil, nil, map[string]string{"HTTP_PROXY": "", "no_proxy": ""}},
		"no_proxy alone": {map[string]string{"no_proxy": "a"}, nil, map[string]string{"no_proxy": "", "NO_PROXY": ""}},
		"one case":       {map[string]string{"https_proxy": "http://p:1"}, nil, map[string]string{"HTTPS_PROXY": "http://p:1", "https_proxy": "http://p:1", "HTTP_PROXY": ""}},
		"each its own":   {map[string]string{"https_proxy": "http://a:1", "HTTPS_PROXY": "http://b:1"}, nil, map[string]string{"HTTPS_PROXY": "http://b:1", "https_proxy": "http://a:1"}},
		"settings win": {map[string]string{"http_proxy": "http://a:1", "HTTP_PROXY": "http://b:1"}, []Layer{{Name: core.LayerGlobal, Proxies: &Proxies{HTTP: ":9"}}},
			map[string]string{"HTTP_PROXY": "http://host.docker.internal:9", "http_proxy": "http://host.docker.internal:9", "HTTPS_PROXY": ""}},
		"later layer": {nil, []Layer{{Name: core.LayerGlobal, Proxies: &Proxies{HTTP: "http://a:1", NoProxy: []string{"g"}}}, {Name: core.LayerProject, Proxies: &Proxies{HTTP: "http://b:1", NoProxy: []string{"p", "g", " q , r"}}}},
			map[string]string{"http_proxy": "http://b:1", "NO_PROXY": "g,p,q,r,host.docker.internal,localhost,127.0.0.1,::1,172.16.0.0/12"}},
		"lists of both cases": {map[string]string{"http_proxy": "http://a:1", "no_proxy": "a, b,localhost", "NO_PROXY": "b,c,"}, nil,
			map[string]string{"NO_PROXY": "b,c,a,localhost,host.docker.internal,127.0.0.1,::1,172.16.0.0/12", "no_proxy": "b,c,a,localhost,host.docker.internal,127.0.0.1,::1,172.16.0.0/12"}},
		"envs win over both": {map[string]string{"http_proxy": "http://a:1"}, []Layer{{Name: core.LayerGlobal, Envs: map[string]any{"http_proxy": "http://mine:1"}}}, map[string]string{"http_proxy": "http://mine:1", "HTTP_PROXY": "http://a:1"}},
		"bad address":        {map[string]string{"http_proxy": "http://a\nb:1"}, nil, map[string]string{"http_proxy": "", "NO_PROXY": ""}},
		"control in list":    {map[string]string{"http_proxy": "http://a:1", "no_proxy": "a\x1b[31m,b"}, nil, map[string]string{"no_proxy": "b,host.docker.internal,localhost,127.0.0.1,::1,172.16.0.0/12"}},
	} {
		env, _, _ := proxyEnv(t, c.host, c.layers...)
		for k, want := range c.want {
			if env[k].Value != want {
				t.Errorf("%s: %s is %q, want %q", name, k, env[k].Value, want)
			}
		}
	}
	long := strings.Repeat("host.test,", 10000)
	env, _, _ := proxyEnv(t, map[string]string{"http_proxy": "http://a:1"}, Layer{Name: core.LayerGlobal, Proxies: &Proxies{NoProxy: []string{long, "last" + strings.Repeat("x", maxNoProxy)}}})
	if v := env["NO_PROXY"].Value; len(v) > maxNoProxy+200 || !strings.HasSuffix(v, "172.16.0.0/12") {
		t.Errorf("a long list became %d bytes", len(v))
	}
}

// TestProxyLogins: an address with a password goes only to the agent's process,
// whichever lane it came by. Without a network it goes nowhere.
func TestProxyLogins(t *testing.T) {
	env, spawn, ex := proxyEnv(t, map[string]string{"HTTPS_PROXY": "http://u:S3cret@h:1"}, Layer{Name: core.LayerGlobal, Proxies: &Proxies{HTTP: "http://u:S3cret@g:1"}, Envs: map[string]any{"INDEX": "https://u:S3cret@index.test/simple"}})
	raw, _ := json.Marshal([]any{env, ex})
	if strings.Contains(string(raw), "S3cret") {
		t.Errorf("a login is in the container's environment: %s", raw)
	}
	var names []string
	for _, v := range spawn {
		names = append(names, v.Name)
	}
	if want := []string{"HTTPS_PROXY", "HTTP_PROXY", "INDEX", "http_proxy", "https_proxy"}; !slices.Equal(names, want) {
		t.Errorf("the spawn gets %v, want %v", names, want)
	}
	if env["NO_PROXY"].Value == "" {
		t.Error("NO_PROXY is missing")
	}
	off := []Layer{{Name: core.LayerGlobal, Network: new("none"), Proxies: &Proxies{HTTP: "http://u:S3cret@g:1"}}}
	if spawn, err := SpawnEnv(merged(off...), linuxHost(), ""); err != nil || len(spawn) != 0 {
		t.Errorf("without a network: %v %v", spawn, err)
	}
	if config, err := DockerConfig(merged(off...), linuxHost()); err != nil || config != nil {
		t.Errorf("without a network: %s %v", config, err)
	}
}

func TestDockerConfig(t *testing.T) {
	h := linuxHost()
	h.Env = map[string]string{"https_proxy": "http://u:p@localhost:3128"}
	proxied := Layer{Name: core.LayerGlobal, Proxies: &Proxies{HTTP: "http://p:1"}}
	got, err := DockerConfig(merged(proxied), h)
	const want = `{"proxies":{"default":{"httpProxy":"http://p:1","httpsProxy":"http://u:p@host.docker.internal:3128","noProxy":"host.docker.internal,localhost,127.0.0.1,::1,172.16.0.0/12"}}}`
	if err != nil || string(got) != want {
		t.Errorf("%s %v", got, err)
	}
	if got, err := DockerConfig(merged(), linuxHost()); err != nil || got != nil {
		t.Errorf("without a proxy: %s %v", got, err)
	}
	for name, own := range map[string]Layer{
		"variable": {Name: core.LayerProject, Envs: map[string]any{"DOCKER_CONFIG": "/x"}},
		"mount":    {Name: core.LayerProject, Mounts: []string{"~/.docker/config.json:~/.docker/config.json:ro"}},
		"volume":   {Name: core.LayerProject, Mounts: []string{"loop-docker:~/.docker"}},
		"copy":     {Name: core.LayerProject, CopyFiles: []string{"", "~/.docker/config.json"}},
	} {
		if got, err := DockerConfig(merged(proxied, own), h); err != nil || got != nil {
			t.Errorf("%s: the settings bring their own, and yet: %s %v", name, got, err)
		}
	}
}

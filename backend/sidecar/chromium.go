package sidecar

import (
	"loop/backend/wire"
)

// prepare puts the home right and becomes Chromium. Chromium reads certificates from a
// database in its home, whose template comes with the image; the locks are of a Chromium
// that was killed. Files of the Chromium before are nobody's any more.
const prepare = `mkdir -p "$HOME/.pki" && rm -rf "$HOME/.pki/nssdb" && cp -r /etc/chrome-nssdb "$HOME/.pki/nssdb" ; ` +
	`rm -f "$HOME"/chrome/Singleton* ; rm -rf ` + uploadsDir + " " + downloadsDir + ` ; ` +
	`mkdir -m 700 ` + uploadsDir + " " + downloadsDir + ` ; exec /usr/lib/chromium/chromium "$@"`

// wipe is what a reset of the profile does first.
const wipe = `find "$HOME" -mindepth 1 -delete ; ` + prepare

// Descriptors of the DevTools protocol, as --remote-debugging-pipe has them.
const (
	commandsFD = 3
	answersFD  = 4
)

// arguments are Chromium's. Everything that could open a socket past the proxy is off:
// QUIC, WebRTC without a proxy, DNS of its own, background requests. What is left has no
// route, since the container has no network.
func arguments(sandboxed bool) []string {
	args := []string{
		"--headless", "--remote-debugging-pipe", "--user-data-dir=/profile/chrome",
		"--proxy-server=http://" + wire.ProxyAddr,
		"--proxy-bypass-list=<-loopback>", // localhost is the agent's container, behind the proxy
		"--disable-quic", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--webrtc-ip-handling-policy=disable_non_proxied_udp",
		"--dns-over-https-mode=off", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-domain-reliability", "--disable-client-side-phishing-detection", "--no-pings", "--disable-breakpad",
		"--no-first-run", "--no-default-browser-check", "--disable-default-apps", "--disable-extensions",
		"--disable-gpu", "--disable-dbus", "--password-store=basic", "--use-mock-keychain", "--mute-audio",
		"--disable-features=Translate,MediaRouter,OptimizationHints,DialMediaRouteProvider,AutofillServerCommunication,HttpsUpgrades," +
			"Prerender2,BackForwardCache", // a page that was made ready or kept would come up without being held
		// A page that nobody looks at is drawn all the same: the agent looks by screenshots.
		"--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding", "--disable-background-timer-throttling",
		"--window-size=1280,800", "--hide-scrollbars", "--renderer-process-limit=12", "about:blank",
	}
	if !sandboxed {
		args = append([]string{"--no-sandbox"}, args...)
	}
	return args
}

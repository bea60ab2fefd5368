package policy

// keyFiles are where programs keep what opens other doors, below a home.
var keyFiles = []string{
	".ssh/**", ".aws/**", ".gcp/**", ".azure/**", ".kube/**", ".netrc", "_netrc", ".pgpass", ".my.cnf",
	".docker/config.json", ".git-credentials", ".config/git/credentials",
	".config/{gcloud,op,rclone}/**", ".config/gh/hosts.yml", ".config/hub", ".config/glab-cli/config.yml",
	".gnupg/{private-keys-v1.d/**,secring.gpg}", ".password-store/**", ".local/share/keyrings/**",
	".pypirc", ".cargo/{credentials,credentials.toml}", ".gem/credentials", ".composer/auth.json",
	".vault-token", ".terraform.d/credentials.tfrc.json", ".config/sops/age/**",
}

// credentials adds the rules for keys and passwords: at once, as a question about a
// key is one that a person in a hurry answers wrongly.
func (b *baseline) credentials(d Decision) {
	grants := make([]string, 0, len(b.CredentialGrants))
	for _, g := range b.CredentialGrants {
		grants = append(grants, Quote(g)+"/**") // a file, or a folder and what is in it
	}
	b.file("credential.grant", Credential, Allow, []Operation{Read}, says{}, grants...)
	b.file("credential.public", Credential, Allow, []Operation{Read}, says{},
		below(b.homes, ".ssh/{config,known_hosts,known_hosts2,known_hosts.old,*.pub}")...)
	b.file("credential.home", Credential, d, access,
		says{"Keys and passwords lie here.",
			"Ask the person to grant what the work needs as a credential in Loop's settings."},
		below(b.homes, keyFiles...)...)
	b.file("credential.system", Credential, d, access,
		says{"This file holds the passwords or keys of the system. No work on a project needs it.", ""},
		"/etc/{shadow,gshadow,shadow-,gshadow-}", "/etc/ssh/ssh_host_*_key")
}

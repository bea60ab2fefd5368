#!/usr/bin/env bash
# Takes the agent CLI out of the agent image: claude.sh FILE
#
# Tests and benchmarks on the host thus use exactly the program the containers
# use. Skipped while the image is the same.
# shellcheck source=build/say.sh
. "$(dirname "$0")/say.sh"
# shellcheck source=build/stamp.sh
. "$(dirname "$0")/stamp.sh"

out=${1:-}
[ -n "$out" ] || die "Usage: build/claude.sh FILE"
image=${LOOP_IMAGE:-loop-agent:latest}

have docker || die "The docker command is missing; it is needed to copy the agent CLI out of the image." "Install docker.io."
# The engine Loop uses, which may not be the docker command's own choice.
host=$("$ROOT/build/engine.sh" status) || die "No engine answers." "Run: build/engine.sh start"
export DOCKER_HOST=$host

id=$(docker image inspect --format '{{.Id}}' "$image") || die "There is no image $image." "Run: make image"
if [ -x "$out" ] && fresh claude "$id"; then exit 0; fi
step "Copying the agent CLI out of $image"
container=$(docker create --network none "$image" true)
trap 'docker rm -f "$container" >/dev/null' EXIT
docker cp -L "$container:/usr/local/bin/claude" "$out.new"
chmod 755 "$out.new"
mv "$out.new" "$out"
"$out" --version
finished claude "$id"

# Sourced by bin/sallyport and tools/node/install.sh: which Node runs Sallyport.

node_floor=22.19

# is_supported_node COMMAND: succeeds where COMMAND is a Node of at least $node_floor.
is_supported_node() {
  found=$("$1" --version 2>/dev/null) || return 1
  found=${found#v}
  major=${found%%.*}
  minor=${found#*.}
  minor=${minor%%.*}
  [ "$major" -gt "${node_floor%.*}" ] || { [ "$major" -eq "${node_floor%.*}" ] && [ "$minor" -ge "${node_floor#*.}" ]; }
}

# find_node ROOT: prints the command to run Node with: the installed one, else the one that `make` put below
# ROOT/tools/node. Fails where neither is new enough.
find_node() {
  for candidate in node "$1/tools/node/node_modules/.bin/node"; do
    if is_supported_node "$candidate"; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
  return 1
}

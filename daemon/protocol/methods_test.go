package protocol_test

import (
	"slices"
	"testing"

	"github.com/loomd/loomd/daemon/protocol"
)

// TestRights: a connection that can propose cannot decide, in the table already.
func TestRights(t *testing.T) {
	may := map[string][]protocol.Role{}
	for _, m := range protocol.Methods {
		may[m.Name] = m.Roles
	}
	for _, name := range []string{protocol.MethodProposalsDecide, protocol.MethodProposalsUndo} {
		for _, r := range may[protocol.MethodToolsCall] {
			if slices.Contains(may[name], r) {
				t.Errorf("%s: role %s can propose and decide", name, r)
			}
		}
		if len(may[name]) == 0 {
			t.Errorf("%s: nobody may", name)
		}
	}
}

func TestVersions(t *testing.T) {
	if !slices.Contains(protocol.SupportedVersions, protocol.Version) || !slices.IsSorted(protocol.SupportedVersions) {
		t.Errorf("version %d, supported %v", protocol.Version, protocol.SupportedVersions)
	}
	if newest := slices.Max(protocol.SupportedVersions); newest != protocol.Version {
		t.Errorf("a client that names no version gets %d, but the newest is %d", protocol.Version, newest)
	}
}

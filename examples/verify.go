package webhook

import "crypto/hmac"
import "crypto/sha256"
import "fmt"
import "strconv"
import "strings"

// Verify returns "valid", "malformed", "stale" or "forged". Join r.Header.Values(…) with a comma.
func Verify(secrets []string, signature, timestamp string, body []byte, nowMs int64) string {
	if sentAt, err := strconv.ParseUint(timestamp, 10, 63); len(secrets) == 0 || strings.Count(" "+strings.Join(secrets, " "), " whsec_") < len(secrets) || strings.ContainsAny(strings.Join(secrets, ""), ", \t\r\n\"'") {
		panic("a signing secret is missing, or not as issued: whsec_…")
	} else if err != nil || len(timestamp) > 15 || !strings.HasPrefix(signature, "sha256=") || strings.Contains(signature, ",") {
		return "malformed"
	} else if int64(sentAt) < nowMs-300_000 || int64(sentAt) > nowMs+300_000 { // 5 minutes
		return "stale"
	}
	for _, secret := range secrets { // several in a rotation
		mac := hmac.New(sha256.New, []byte(secret))
		if fmt.Fprintf(mac, "%s.%s", timestamp, body); hmac.Equal([]byte(fmt.Sprintf("sha256=%x", mac.Sum(nil))), []byte(signature)) {
			return "valid"
		}
	}
	return "forged"
}

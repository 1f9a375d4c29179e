// Prints the reaction of examples/verify.go to each mistake in a receiver.
package main

import (
	"fmt"
	"os"
	"strconv"

	"vectors/webhook"
)

func main() {
	for _, secrets := range [][]string{nil, {""}, {"whsec_x", ""}, {os.Getenv("NOT_SET")}, {"whsec_x\n"}, {"\"whsec_x\""}, {"vck_x.y"}, {"whsec_x,whsec_y"}} {
		fmt.Println(answer(secrets))
	}
}

func answer(secrets []string) (text string) {
	defer func() {
		if fault := recover(); fault != nil {
			text = fmt.Sprint("throws: ", fault)
		}
	}()
	nowMs, _ := strconv.ParseInt(os.Args[3], 10, 64)
	return webhook.Verify(secrets, os.Args[2], os.Args[3], []byte(os.Args[4]), nowMs)
}

// A memory with one port: in each cycle one word is read or written. What was read, or written, is
// at the output in the next cycle. Synthesis makes an SRAM of it where there is one.
module upc_memory #(
    parameter int unsigned WORDS = 256,
    parameter int unsigned WIDTH = 53,
    parameter int unsigned ADDRESS_BITS = 8
) (
    input  logic                    clock,
    input  logic                    enable,
    input  logic                    write,
    input  logic [ADDRESS_BITS-1:0] address,
    input  logic [       WIDTH-1:0] data_in,
    output logic [       WIDTH-1:0] data_out
);
  logic [WIDTH-1:0] words[WORDS];

  always_ff @(posedge clock) begin
    if (enable) begin
      if (write) begin
        words[address] <= data_in;
        data_out <= data_in;
      end else begin
        data_out <= words[address];
      end
    end
  end
endmodule

// Plain counters in tiles of 256, for more of them than are put together as one: the same bus, with the
// tile's number in front of the address, and one multiplexer for the answers.
module plain_tiles #(
    parameter int unsigned TILES = 4,
    parameter bit THRESHOLDS = 1'b1,
    localparam int unsigned Counters = 256,
    localparam int unsigned Inputs = 4,
    localparam int unsigned Width = 64,
    localparam int unsigned TileBits = $clog2(TILES),
    localparam int unsigned AddressBits = $clog2(Counters) + 2
) (
    input logic clock,
    input logic reset,
    input logic run,

    input logic [TILES*Inputs*Counters-1:0] events,

    input  logic                            request_valid,
    input  logic                            request_write,
    input  logic [TileBits+AddressBits-1:0] request_address,
    input  logic [               Width-1:0] request_data,
    output logic                            response_valid,
    output logic [               Width-1:0] response_data,

    output logic irq
);
  logic [TileBits-1:0] tile;
  logic [TILES-1:0] answers, interrupts;
  logic [TILES*Width-1:0] data;

  assign tile = request_address[AddressBits+:TileBits];

  for (genvar i = 0; i < TILES; i++) begin : part
    plain_counters #(
        .COUNTERS(Counters),
        .INPUTS(Inputs),
        .WIDTH(Width),
        .THRESHOLDS(THRESHOLDS)
    ) counters (
        .clock,
        .reset,
        .run,
        .events(events[i*Inputs*Counters+:Inputs*Counters]),
        .request_valid(request_valid && tile == TileBits'(i)),
        .request_write,
        .request_address(request_address[AddressBits-1:0]),
        .request_data,
        .response_valid(answers[i]),
        .response_data(data[i*Width+:Width]),
        .irq(interrupts[i])
    );
  end

  always_comb begin
    response_data = '0;
    for (int unsigned i = 0; i < TILES; i++) begin
      if (answers[i]) response_data = data[i*Width+:Width];
    end
  end
  assign response_valid = |answers;
  assign irq = |interrupts;
endmodule
